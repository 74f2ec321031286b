import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { readBody, readForm } from "./guard.ts"

/** A request with a client that disconnects after these chunks of the body. */
const abortAfter = (...chunks: ReadonlyArray<string>): RequestInit => {
  const body = new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
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
      const response = await app.request(path, abortAfter("a=b", "&c=d"))
      assert.deepStrictEqual([path, await response.text()], [path, "aborted"])
    }
  })
})
