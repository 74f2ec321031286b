import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { loopback } from "../../trusted-proxies.ts"
import { makeAddressFinder, readBody, readForm } from "./guard.ts"

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

it("finds the caller behind a proxy, and warns once if the proxy does not name its callers", async () => {
  const warnings: Array<string> = []
  const app = new H3().get(
    "/",
    makeAddressFinder(loopback, (message) => warnings.push(message))
  )
  const findFrom = async (headers: Readonly<Record<string, string>>) => {
    const request = Object.assign(new Request("http://127.0.0.1/", { headers }), { ip: "127.0.0.1" })
    return (await app.fetch(request)).text()
  }
  assert.strictEqual(await findFrom({ "x-forwarded-for": "made up, 203.0.113.7:4101" }), "203.0.113.7")
  assert.strictEqual(await findFrom({ forwarded: 'for="[2001:db8::9]:4444"' }), "2001:db8::9")
  assert.deepStrictEqual(warnings, [])
  assert.strictEqual(await findFrom({ "x-forwarded-for": "unknown" }), "127.0.0.1")
  assert.strictEqual(await findFrom({ forwarded: "for=203.0.113.7", "x-forwarded-for": "203.0.113.8" }), "127.0.0.1")
  assert.deepStrictEqual(warnings, [
    'A caller behind the proxy 127.0.0.1 counts as the proxy itself, because X-Forwarded-For has no address of a caller: "unknown". Failed sign-ins of all such callers delay each other. Have the proxy set one of X-Forwarded-For and Forwarded to its caller\'s address, and remove the other.'
  ])
})
