import { describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
const malformed = "401 unauthorized: Missing or malformed Authorization: Bearer header"

describe("the order of checks", () => {
  it("responds with 404 to an unknown path before it reports any other fault", async () => {
    for (const [method, key] of [
      ["GET", undefined],
      ["POST", undefined],
      ["DELETE", "nonsense"],
      ["OPTIONS", undefined]
    ] as const) {
      const reply = await api.get("/v1/unknown?limit=0", { method, key })
      expect(formatError(reply)).toBe("404 not_found: No such endpoint")
    }
  })

  it("responds with 405 to a method other than GET, before it checks the key", async () => {
    const reply = await api.get("/v1/commodities?limit=0", { method: "POST", key: undefined })
    expect(formatError(reply)).toBe("405 invalid_request: Only GET is served here")
  })

  it("responds with 401 to an invalid key, before it reads parameters", async () => {
    const target = "/v1/commodities?limit=0&limit=0&nonsense=1"
    expect(formatError(await api.get(target, { key: undefined }))).toBe(malformed)
    expect(formatError(await api.get(target, { key: `svc_data_${"0".repeat(64)}` }))).toBe(
      "401 unauthorized: Unknown or revoked API key"
    )
  })

  it("responds with 403 to a missing scope, before it reads parameters and checks the balance", async () => {
    const { key } = await createKey(api.home(), { scopes: ["get-store"], budget: 0 })
    for (const target of ["/v1/commodities?limit=0", "/v1/commodities?nonsense=1", "/v1/commodities"]) {
      expect(formatError(await api.get(target, { key }))).toBe(
        "403 forbidden: This key is not scoped to search-commodities"
      )
    }
    expect(formatError(await api.get("/v1/products/none", { key }))).toBe(
      "403 forbidden: This key is not scoped to get-product"
    )
  })

  it("responds with 400 to an invalid parameter and an unknown name, before it checks the balance", async () => {
    const { key } = await createKey(api.home(), { budget: 0 })
    for (const target of [
      "/v1/commodities?limit=0",
      "/v1/commodities?cursor=abc",
      "/v1/commodities/prices?series=nope",
      "/v1/commodities/metric-values?metrics=nope",
      "/v1/products/none?nonsense=1"
    ]) {
      expect((await api.get(target, { key })).status).toBe(400)
    }
    expect((await api.get("/v1/commodities", { key })).status).toBe(402)
  })

  it("reports a malformed query before an unknown series, in any order of parameters", async () => {
    for (const target of ["/v1/commodities/prices?series=nope&to=x", "/v1/commodities/prices?nonsense=1&series=nope"]) {
      expect(formatError(await api.get(target))).not.toMatch(/Unknown series/)
    }
  })

  it("responds with 402 without credits, before it looks up a record", async () => {
    const { key } = await createKey(api.home(), { budget: 0 })
    for (const path of [
      "/v1/branded-foods/x",
      "/v1/stores/x",
      "/v1/stores/x/products",
      "/v1/stores/x/collections",
      "/v1/products/x"
    ]) {
      expect(formatError(await api.get(path, { key }))).toBe("402 insufficient_balance: Monthly spend cap reached")
    }
  })

  it("responds with 404 to an unknown id", async () => {
    expect(formatError(await api.get("/v1/products/x"))).toBe("404 not_found: Unknown product: x")
  })
})

describe("400: parameters", () => {
  const targets = [
    "/v1/commodities",
    "/v1/commodities/prices?series=butter-sales-price-weekly",
    "/v1/commodities/metric-values?metrics=butter_sales_price_weekly",
    "/v1/branded-foods",
    "/v1/branded-foods/categories",
    "/v1/branded-foods/any",
    "/v1/stores",
    "/v1/stores/any",
    "/v1/stores/any/products",
    "/v1/stores/any/collections",
    "/v1/products/any"
  ]
  const withParameter = (target: string, parameter: string) =>
    `${target}${target.includes("?") ? "&" : "?"}${parameter}`

  it.each([
    ["/v1/branded-foods?limt=1", "limt. Did you mean limit?"],
    ["/v1/branded-foods?Ingredients=x", "Ingredients. Did you mean ingredient?"],
    ["/v1/commodities/prices?serie=a", "serie. Did you mean series?"],
    ["/v1/stores/any?limit=1", "limit. This endpoint takes none."]
  ])("names the parameter that is nearest to an unknown one: %s", async (target, message) => {
    expect(formatError(await api.get(target))).toBe(`400 invalid_request: Unknown query parameter: ${message}`)
  })

  /** The suggested name differs between the targets. */
  const matchRefusal = (name: string) => {
    const escaped = name.replaceAll(/[[\]]/g, "\\$&")
    const advice = "(Did you mean [a-z]+\\?|This endpoint takes none\\.)"
    return new RegExp(`^400 invalid_request: Unknown query parameter: ${escaped}\\. ${advice}$`)
  }

  it.each(targets)("names an unknown parameter, even on endpoints without parameters: %s", async (target) => {
    for (const name of [
      "nonsense",
      "Limit",
      "LIMIT",
      "from[]",
      "series[0]",
      "api_key",
      "__proto__",
      "constructor",
      "toString"
    ]) {
      const reply = await api.get(withParameter(target, `${encodeURIComponent(name)}=1`))
      expect(formatError(reply)).toMatch(matchRefusal(name))
    }
  })

  it.each(targets)("rejects an unknown parameter without a value, and one without a name: %s", async (target) => {
    expect(formatError(await api.get(withParameter(target, "nonsense")))).toMatch(matchRefusal("nonsense"))
    for (const parameter of ["=", "=1", "&="])
      expect(formatError(await api.get(withParameter(target, parameter)))).toBe(
        "400 invalid_request: A parameter has no name"
      )
  })

  it.each([
    ["/v1/commodities?commodity=a&commodity=a", "commodity"],
    ["/v1/commodities?limit=1&category=x&limit=2", "limit"],
    ["/v1/commodities?cursor=&cursor=", "cursor"],
    ["/v1/commodities?lim%69t=1&limit=1", "limit"],
    ["/v1/commodities/prices?series=a&series=b", "series"],
    ["/v1/commodities/prices?series=a&to=2024-01-01&to=2024-01-01", "to"],
    ["/v1/commodities/metric-values?metrics=a&metrics=b", "metrics"],
    ["/v1/branded-foods?name=a&name=b", "name"],
    ["/v1/stores?query=a&query=b", "query"],
    ["/v1/stores/any/products?limit=1&limit=1", "limit"]
  ])("names a repeated parameter: %s", async (target, name) => {
    expect(formatError(await api.get(target))).toBe(`400 invalid_request: Repeated query parameter: ${name}`)
  })

  it("reads an empty query as no parameters", async () => {
    expect((await api.get("/v1/commodities?")).text).toBe((await api.get("/v1/commodities")).text)
    expect((await api.get("/v1/commodities?&&")).status).toBe(200)
  })
})
