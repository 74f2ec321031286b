import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const target = "/v1/commodities?commodity=butter"

describe("response headers", () => {
  it("X-Request-Id is on every response and always new, even if the caller sends one", async () => {
    const replies = [
      await api.get(target),
      await api.get(target, { headers: { "x-request-id": "mine" } }),
      await api.get(target, { key: undefined }),
      await api.get("/v1/unknown"),
      await api.get(target, { method: "OPTIONS" }),
      await api.get(target, { method: "HEAD" }),
      await api.get("/openapi.json")
    ]
    const ids = replies.map(({ headers }) => String(headers["x-request-id"]))
    expect(new Set(ids).size).toBe(replies.length)
    expect(ids.filter((id) => !/^[\w-]{8,}$/.test(id))).toEqual([])
  })

  it("X-Data-Version, X-Data-Origin, X-Credits-Charged and X-Credits-Remaining are on every response to a known key", async () => {
    const first = await api.get(target)
    expect(first.headers).toMatchObject({
      "x-data-version": "larder-000001",
      "x-data-origin": "sample",
      "x-credits-charged": "10"
    })
    const remaining = first.headers["x-credits-remaining"]
    for (const [path, version] of [
      ["/v1/commodities?limit=0", "larder-000001"],
      ["/v1/branded-foods/none", "larder-000002"],
      ["/v1/stores/none", "larder-000003"],
      ["/v1/commodities/prices?series=nope", "larder-000001"]
    ] as const) {
      const { headers } = await api.get(path)
      expect(headers, "the generation that changed the data set").toMatchObject({
        "x-data-version": version,
        "x-data-origin": "sample",
        "x-credits-charged": "0",
        "x-credits-remaining": remaining
      })
    }
  })

  it("WWW-Authenticate: Bearer is on every 401 and on no other response", async () => {
    for (const key of [undefined, "nonsense", `svc_data_${"0".repeat(64)}`]) {
      const { headers, status } = await api.get(target, { key })
      expect([status, headers["www-authenticate"]]).toEqual([401, "Bearer"])
    }
    for (const path of [target, "/v1/unknown", "/v1/commodities?limit=0"]) {
      expect((await api.get(path)).headers).not.toHaveProperty("www-authenticate")
    }
  })

  it("no response may be cached, and none names the server's software", async () => {
    for (const path of [target, "/v1/unknown", "/v1/commodities?limit=0"]) {
      const { headers } = await api.get(path)
      expect(headers["cache-control"]).toBe("private, no-store")
      for (const name of ["etag", "last-modified", "set-cookie", "server", "x-powered-by"]) {
        expect(headers).not.toHaveProperty([name])
      }
    }
  })

  it("a conditional request gets the whole body with 200", async () => {
    const headers = { "if-none-match": "*", "if-modified-since": "Sat, 01 Jan 2050 00:00:00 GMT", range: "bytes=0-3" }
    const reply = await api.get(target, { headers })
    expect([reply.status, reply.text]).toEqual([200, (await api.get(target)).text])
  })

  it("Content-Length is the length of the body in bytes", async () => {
    for (const path of [target, "/v1/commodities", "/v1/stores/k%C3%A4se", "/v1/unknown"]) {
      const { headers, text } = await api.get(path)
      expect(headers["content-length"]).toBe(String(Buffer.byteLength(text)))
    }
  })

  it.each(["text/html", "text/csv", "application/xml", "image/*", "application/json;q=0", "nonsense", ""])(
    "bodies are JSON with any Accept header: %s",
    async (accept) => {
      const headers = { accept, "accept-language": "de", "accept-charset": "utf-16" }
      const reply = await api.get(target, { headers })
      expect([reply.status, reply.text]).toEqual([200, (await api.get(target)).text])
      expect(formatError(await api.get("/v1/unknown", { headers }))).toBe("404 not_found: No such endpoint")
    }
  )
})
