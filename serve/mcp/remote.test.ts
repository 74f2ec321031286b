/** The tools of an API that is unreachable, is another service, or disconnects. `test/mcp` tests the real API. */
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { type ApiError, noSuchEndpoint, overloaded, unknownKey } from "@larder/schemas"
import { afterEach } from "vitest"
import { errorBody, errorHeaders } from "../api/index.ts"
import { makeRemoteTools } from "./remote.ts"

const key = `svc_data_${"k".repeat(64)}`
const { signal } = new AbortController()
let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

const listen = async (respond: RequestListener) => {
  const newServer = createServer(respond)
  server = newServer
  await new Promise<void>((resolve) => newServer.listen(0, "127.0.0.1", resolve))
  const { port } = newServer.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
const serve = (status: number, body: string, headers = {}) =>
  listen((_request, response) => response.writeHead(status, headers).end(body))
const serveError = (error: ApiError) =>
  serve(error.status, errorBody(error), { "x-request-id": "req_1", ...errorHeaders(error.code, undefined) })

const toolsAt = (url: string) => makeRemoteTools({ url, key, version: "1" })
const callAt = (url: string) => toolsAt(url).call({ name: "get_store", arguments: { id: "x" }, signal })
const catchMessage = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error) => (error instanceof Error ? error.message : String(error))
  )

describe("a remote tool", () => {
  it("fails as unreachable when no server listens at the address", async () => {
    const url = await serve(200, "")
    server?.close()
    assert.strictEqual(
      await catchMessage(callAt(url)),
      `The API at ${url} cannot be reached (ECONNREFUSED). Start it, or set another address with --url.`
    )
  })
  it("fails as unreachable when the API does not support TLS", async () => {
    const url = (await serve(200, "")).replace("http:", "https:")
    assert.match(await catchMessage(callAt(url)), /cannot be reached \(ERR_SSL_/)
  })
  it("reports that a call may have been charged when its connection breaks", async () => {
    const closeEarly: RequestListener = (request) => request.resume().on("end", () => request.socket.destroy())
    const truncate: RequestListener = (_request, response) => {
      response.writeHead(200, { "content-length": "100" }).write("{")
      setImmediate(() => response.destroy())
    }
    for (const respond of [closeEarly, truncate]) {
      const url = await listen(respond)
      assert.match(
        await catchMessage(callAt(url)),
        /^The connection to the API at .* broke \(.*\)\. The call may have been/
      )
      assert.match(await catchMessage(toolsAt(url).list(signal)), /^The connection to the API at .* broke \([^)]*\)\.$/)
    }
  })
  it.each([
    ["another path of the API", () => serveError(noSuchEndpoint)],
    ["a page", () => serve(200, "<!doctype html>")],
    ["a redirect", () => serve(302, "", { location: "/elsewhere" })]
  ])("asks whether the address is correct when it leads to %s", async (_target, start) => {
    const url = await start()
    assert.match(await catchMessage(callAt(url)), /Is it the address of the API\?$/)
    assert.match(await catchMessage(toolsAt(url).list(signal)), /Is it the address of the API\?$/)
  })
  it.each([unknownKey, overloaded])("returns a refusal with $status as the result of a tool", async (error) => {
    const url = await serveError(error)
    const { _meta, content, isError, structuredContent } = await callAt(url)
    assert.deepStrictEqual([isError, structuredContent], [true, JSON.parse(errorBody(error))])
    assert.deepInclude(_meta, { "larder/request_id": "req_1", "larder/error_code": error.code })
    assert.notInclude(JSON.stringify(content), key)
    assert.strictEqual(await catchMessage(toolsAt(url).list(signal)), error.message)
  })
  it("reports that a call may have been charged when a proxy responds with 504", async () => {
    const url = await serve(504, "<h1>Gateway Time-out</h1>")
    assert.match(
      await catchMessage(callAt(url)),
      /returned status 504, maybe from a proxy. A call may have been charged.$/
    )
  })
  it("passes on the message of a refusal without an id", async () => {
    const message = "A message has at most 1 byte"
    const url = await serve(413, JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }))
    assert.strictEqual(await catchMessage(callAt(url)), message)
  })
})
