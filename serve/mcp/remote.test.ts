/** The tools of an API that is unreachable, is another service, or breaks off. `test/mcp` tests the real API. */
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type ApiError, noSuchEndpoint, overloaded, unknownKey } from "@larder/schemas"
import { afterEach } from "vitest"
import { errorBody, errorHeaders } from "../api/index.ts"
import { remoteTools } from "./remote.ts"

const key = `svc_data_${"k".repeat(64)}`
const { signal } = new AbortController()
let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const listening = async (answer: RequestListener) => {
  const opened = createServer(answer)
  server = opened
  await new Promise<void>((resolve) => opened.listen(0, "127.0.0.1", resolve))
  const { port } = opened.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
const answering = (status: number, body: string, headers = {}) =>
  listening((_request, response) => response.writeHead(status, headers).end(body))
const refusing = (error: ApiError) =>
  answering(error.status, errorBody(error), { "x-request-id": "req_1", ...errorHeaders(error.code, undefined) })

const toolsAt = (url: string) => remoteTools({ url, key, version: "1" })
const callAt = (url: string) => toolsAt(url).call({ name: "get_store", arguments: { id: "x" }, id: 1, signal })
const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error) => (error instanceof Error ? error.message : String(error))
  )

describe("tools of an API", () => {
  it("fails as unreachable when no server listens at the address", async () => {
    const url = await answering(200, "")
    server?.close()
    assert.strictEqual(
      await messageOf(callAt(url)),
      `The API at ${url} cannot be reached (ECONNREFUSED). Start it, or name another with --url.`
    )
  })
  it("fails as unreachable when the API does not speak TLS", async () => {
    const url = (await answering(200, "")).replace("http:", "https:")
    assert.match(await messageOf(callAt(url)), /cannot be reached \(ERR_SSL_/)
  })
  it("says that a call may have been charged when its connection breaks", async () => {
    const breakOff: RequestListener = (request) => request.resume().on("end", () => request.socket.destroy())
    const cutOff: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{")
      setImmediate(() => response.destroy())
    }
    for (const answer of [breakOff, cutOff]) {
      const url = await listening(answer)
      assert.match(
        await messageOf(callAt(url)),
        /^The connection to the API at .* broke \(.*\)\. The call may have been/
      )
      assert.match(await messageOf(toolsAt(url).list(signal)), /^The connection to the API at .* broke \([^)]*\)\.$/)
    }
  })
  it.each([
    ["another path of the API", () => refusing(noSuchEndpoint)],
    ["a page", () => answering(200, "<!doctype html>")],
    ["a redirect", () => answering(302, "", { location: "/elsewhere" })]
  ])("asks whether the address is right when it leads to %s", async (_what, serve) => {
    const url = await serve()
    assert.match(await messageOf(callAt(url)), /Is it the address of the API\?$/)
    assert.match(await messageOf(toolsAt(url).list(signal)), /Is it the address of the API\?$/)
  })
  it.each([unknownKey, overloaded])("gives a refusal with $status as the result of a tool", async (error) => {
    const url = await refusing(error)
    const { _meta, content, isError, structuredContent } = await callAt(url)
    assert.deepStrictEqual([isError, structuredContent], [true, JSON.parse(errorBody(error))])
    assert.deepInclude(_meta, { "larder/request_id": "req_1", "larder/error_code": error.code })
    assert.notInclude(JSON.stringify(content), key)
    assert.strictEqual(await messageOf(toolsAt(url).list(signal)), error.message)
  })
  it("says that a call may have been charged when a proxy answers 504", async () => {
    const url = await answering(504, "<h1>Gateway Time-out</h1>")
    assert.match(await messageOf(callAt(url)), /answered 504, from a proxy perhaps. A call may have been charged.$/)
  })
  it("passes on the message of a refusal without an id", async () => {
    const message = "A message takes at most 1 byte"
    const url = await answering(413, JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }))
    assert.strictEqual(await messageOf(callAt(url)), message)
  })
})
