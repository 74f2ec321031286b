import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const noSuchEndpoint = "404 not_found: No such endpoint"
const listPaths = () => Object.keys(api.client().document.paths).map((template) => template.replace("{id}", "any"))

describe("methods", () => {
  it.each(["POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY", "PROPFIND", "PURGE"])(
    "responds with 405 and Allow: GET, OPTIONS to %s on a known path, with or without a key",
    async (method) => {
      for (const path of [...listPaths(), "/openapi.json"]) {
        for (const key of [undefined, api.key().key]) {
          const reply = await api.get(path, { method, key })
          expect(formatError(reply)).toBe("405 invalid_request: Only GET is served here")
          expect(reply.headers.allow).toBe("GET, OPTIONS")
        }
      }
    }
  )

  it("responds with 405 without a body to HEAD", async () => {
    for (const path of listPaths()) {
      const { headers, status, text } = await api.get(path, { method: "HEAD" })
      expect([status, text, headers.allow]).toEqual([405, "", "GET, OPTIONS"])
    }
  })

  it("ignores a header that overrides the method", async () => {
    const headers = { "x-http-method-override": "DELETE", "x-method-override": "POST" }
    expect((await api.get("/v1/commodities", { headers })).status).toBe(200)
    const posted = await api.get("/v1/commodities", { method: "POST", headers: { "x-http-method-override": "GET" } })
    expect(posted.status).toBe(405)
  })
})

describe("paths", () => {
  it.each([
    "/v1",
    "/v1/",
    "/v2/commodities",
    "/commodities",
    "/v1/commodity",
    "/V1/commodities",
    "/v1/Commodities",
    "/v1//commodities",
    "//v1/commodities",
    "/v1/commodities/butter",
    "/v1/commodities/prices/butter",
    "/v1/commodities;a=b",
    "/v1/commodities.json",
    "/v1/commodities%2Fprices",
    "/v1%2Fcommodities",
    "/v1/branded-foods/a/b",
    "/v1/branded-foods/categories/a",
    "/v1/stores/a/products/b",
    "/v1/stores/a/variants",
    "/v1/stores//products",
    "/v1/products",
    "/v1/collections/a",
    "/openapi.yaml",
    "/openapi.json/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/favicon.ico",
    "/.env"
  ])("responds with 404 to %s", async (path) => {
    expect(formatError(await api.get(path))).toBe(noSuchEndpoint)
    expect(formatError(await api.get(path, { key: undefined }))).toBe(noSuchEndpoint)
  })

  it("responds with 404 to each path with a trailing slash", async () => {
    for (const path of listPaths()) expect(formatError(await api.get(`${path}/`))).toBe(noSuchEndpoint)
    expect(formatError(await api.get("/v1/commodities/?commodity=butter"))).toBe(noSuchEndpoint)
    expect(formatError(await api.get("/v1/commodities/", { method: "POST" }))).toBe(noSuchEndpoint)
  })

  it.each([
    "/v1/./commodities",
    "/v1/stores/../commodities",
    "/v1/stores/%2E%2E/commodities",
    "/v1/stores/.%2e/commodities",
    "/v1/commodities/.",
    "/v1/commodities/prices/..",
    "/../v1/commodities",
    "/v1\\commodities",
    "/v1/commodities#prices"
  ])("does not resolve a path as browsers do, and responds with 404: %s", async (path) => {
    expect(formatError(await api.get(path))).toBe(noSuchEndpoint)
  })

  it("treats a path with a percent-encoded letter as another path", async () => {
    expect(formatError(await api.get("/v1/%63ommodities?commodity=butter"))).toMatch(/^404 not_found/)
  })

  it("decodes a percent-encoded letter in the query", async () => {
    const plain = await api.get("/v1/commodities?commodity=butter")
    const { status, text } = await api.client().call("/v1/commodities?commodity=%62utter", { key: api.key().key })
    expect([status, text]).toEqual([200, plain.text])
  })
})

describe("the id in a path", () => {
  it.each([
    ["a%2Fproducts", "a/products"],
    ["a%2fb", "a/b"],
    ["%2F", "/"],
    ["a%2F", "a/"],
    ["a%2F..%2Fb", "a/../b"],
    ["a%3Fb", "a?b"],
    ["a%23b", "a#b"],
    ["a%20b", "a b"],
    ["a+b", "a+b"],
    ["a%2Bb", "a+b"],
    ["%2541", "%41"],
    ["%25zz", "%zz"],
    ["k%C3%A4se", "käse"],
    ["%F0%9F%A5%9B", "🥛"],
    ["%22%3E%3Cscript%3E", '"><script>'],
    ["__proto__", "__proto__"],
    ["constructor", "constructor"],
    ["%00", "\u0000"],
    ["a,b", "a,b"],
    ["a;b=c", "a;b=c"],
    ["...", "..."],
    ["x".repeat(3_000), "x".repeat(3_000)]
  ])("is decoded once, and an encoded slash is part of it: %s", async (encoded, id) => {
    for (const [prefix, suffix, record] of [
      ["/v1/stores/", "", "store"],
      ["/v1/stores/", "/products", "store"],
      ["/v1/stores/", "/collections", "store"],
      ["/v1/products/", "", "product"],
      ["/v1/branded-foods/", "", "branded food"]
    ]) {
      const reply = await api.get(`${prefix}${encoded}${suffix}`)
      expect(reply.json).toEqual({ error: { type: "not_found", message: `Unknown ${record}: ${id}` } })
    }
  })

  it.each(["%zz", "%", "a%2", "%C3%28", "%FF"])(
    "is unknown when its encoding is invalid, and causes no fault: %s",
    async (id) => {
      expect(formatError(await api.get(`/v1/stores/${id}`))).toBe(`404 not_found: Unknown store: ${id}`)
      expect((await api.get(`/v1/stores/${id}`, { key: undefined })).status).toBe(401)
    }
  )

  it("does not include /v1/branded-foods/categories, in exactly this spelling", async () => {
    expect((await api.get("/v1/branded-foods/categories")).status).toBe(200)
    expect(formatError(await api.get("/v1/branded-foods/Categories"))).toBe(
      "404 not_found: Unknown branded food: Categories"
    )
  })
})
