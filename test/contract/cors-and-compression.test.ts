import { describe, expect, it } from "vitest"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const large = "/v1/commodities?limit=500"
const small = "/v1/commodities/prices?series=milk-class-iii-price-monthly&from=2026-09-01"
const browser = { origin: "https://shop.example", "sec-fetch-mode": "cors" }

const manyNames = Array.from({ length: 200 }, (_, index) => `x-name-${index}`)

describe("CORS", () => {
  it("allows every origin, on successes and errors, without credentials", async () => {
    const replies = [
      await api.get(small, { headers: browser }),
      await api.get("/v1/commodities?limit=0", { headers: browser }),
      await api.get(small, { headers: browser, key: undefined }),
      await api.get("/v1/products/none", { headers: browser }),
      await api.get("/v1/unknown", { headers: browser }),
      await api.get(small, { headers: browser, method: "POST" })
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 400, 401, 404, 404, 405])
    for (const { headers } of replies) {
      expect(headers["access-control-allow-origin"]).toBe("*")
      expect(headers).not.toHaveProperty("access-control-allow-credentials")
    }
  })

  it("allows scripts to read Larder's own headers", async () => {
    const { headers } = await api.get(small, { headers: browser })
    const exposed = String(headers["access-control-expose-headers"]).toLowerCase().split(/, */)
    expect(exposed).toEqual(
      expect.arrayContaining([
        "x-request-id",
        "x-data-version",
        "x-data-origin",
        "x-credits-charged",
        "x-credits-remaining",
        "x-error-code",
        "link",
        "retry-after"
      ])
    )
  })

  it("responds to a preflight with 204 on every endpoint without a key, and allows Authorization", async () => {
    const headers = {
      ...browser,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization"
    }
    for (const template of [...Object.keys(api.client().document.paths), "/openapi.json"]) {
      const reply = await api.get(template.replace("{id}", "any"), { method: "OPTIONS", key: undefined, headers })
      expect([reply.status, reply.text]).toEqual([204, ""])
      expect(reply.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-headers": expect.stringMatching(/\bauthorization\b/i),
        "access-control-allow-methods": expect.stringMatching(/\bGET\b/)
      })
      expect(reply.headers).not.toHaveProperty("access-control-allow-credentials")
    }
  })

  it.each([
    ["traceparent,x-requested-with,content-type", "Authorization, traceparent, x-requested-with, content-type"],
    ["authorization, content-type", "Authorization, content-type"],
    [" x-a ,\tx-b", "Authorization, x-a, x-b"],
    ["", "Authorization"],
    ["x-a,,x-b", "Authorization, x-a, x-b"],
    ["x-a, not a name", "Authorization"],
    ["x-a;x-b", "Authorization"],
    [manyNames.join(), ["Authorization", ...manyNames].join(", ")]
  ])("allows Authorization and the headers that a browser asks for: %s", async (requested, allowed) => {
    const { headers } = await api.get("/v1/stores", {
      method: "OPTIONS",
      key: undefined,
      headers: { ...browser, "access-control-request-method": "GET", "access-control-request-headers": requested }
    })
    expect([headers["access-control-allow-headers"], headers.vary]).toEqual([allowed, "Access-Control-Request-Headers"])
  })

  it("responds with 404 to OPTIONS on an unknown path", async () => {
    expect(formatError(await api.get("/v1/unknown", { method: "OPTIONS", headers: browser }))).toBe(
      "404 not_found: No such endpoint"
    )
  })
})

describe("compression of large bodies", () => {
  it.each([
    ["gzip", "gzip"],
    ["br", "br"],
    ["zstd", "zstd"],
    ["GZIP", "gzip"],
    ["gzip;q=0.5, br;q=0.9", "br"],
    ["br;q=0.1, gzip;q=0.2", "gzip"],
    ["deflate, gzip", "gzip"],
    ["x-gzip", "gzip"],
    ["*", "gzip"],
    ["br;q=0, *;q=0.5", "gzip"],
    ["gzip;q=0, zstd, *", "zstd"],
    ["gzip;q=1.0, identity;q=0.5, *;q=0", "gzip"]
  ])("responds to Accept-Encoding: %s with %s", async (accepted, coding) => {
    const plain = await api.get(large)
    const { headers, status, text } = await api.get(large, { headers: { "accept-encoding": accepted } })
    expect([status, headers["content-encoding"]]).toEqual([200, coding])
    expect(text).toBe(plain.text)
    expect(Number(headers["content-length"])).toBeLessThan(Number(plain.headers["content-length"]) / 4)
    expect(headers.vary).toMatch(/accept-encoding/i)
  })

  it("uses gzip, br or zstd for a caller that accepts all of them", async () => {
    const { headers, text } = await api.get(large, { headers: { "accept-encoding": "gzip, deflate, br, zstd" } })
    expect(["gzip", "br", "zstd"]).toContain(headers["content-encoding"])
    expect(text).toBe((await api.get(large)).text)
  })

  it.each(["identity", "deflate", "compress", "gzip;q=0", "gzip;q=0, br;q=0.0, zstd;q=0.000", "*;q=0", "", "nonsense"])(
    "responds to Accept-Encoding: %s without compression",
    async (accepted) => {
      const { headers, status } = await api.get(large, { headers: { "accept-encoding": accepted } })
      expect(status).toBe(200)
      expect(headers).not.toHaveProperty("content-encoding")
    }
  )

  it("costs the same as without compression, and has a Vary header for caches", async () => {
    const { headers } = await api.get(large, { headers: { "accept-encoding": "gzip" } })
    expect(headers["x-credits-charged"]).toBe("10")
    expect((await api.get(large)).headers.vary).toMatch(/accept-encoding/i)
  })

  it("does not apply to small bodies and errors", async () => {
    for (const target of [small, "/v1/unknown", "/v1/commodities?limit=0"]) {
      const { headers } = await api.get(target, { headers: { "accept-encoding": "gzip, br, zstd" } })
      expect(headers).not.toHaveProperty("content-encoding")
    }
  })
})
