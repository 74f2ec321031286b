import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { readBody, readForm } from "./guard.ts"

/** A request whose body arrives in these pieces before the client disconnects. */
const aborted = (...pieces: ReadonlyArray<string>): RequestInit => {
  const body = new ReadableStream({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
      controller.error(new Error("aborted"))
    }
  })
  return { method: "POST", body, duplex: "half", headers: { "content-type": "application/x-www-form-urlencoded" } }
}

describe("a request body that the client does not send completely", () => {
  it("is read as aborted without an error, both as a form and as text", async () => {
    const app = new H3()
    app.post("/form", async (event) => String(await readForm(event)))
    app.post("/text", async (event) => String(await readBody(event, 3)))
    for (const path of ["/form", "/text"]) {
      const answer = await app.request(path, aborted("a=b", "&c=d"))
      assert.deepStrictEqual([path, await answer.text()], [path, "aborted"])
    }
  })
})
