/** Keys, prices, parameters and errors of the three branded-food endpoints. */
import { brandedFoodId } from "@larder/schemas"
import { beforeAll, describe, expect, it } from "vitest"
import { createKey } from "../support/api/operator.ts"
import { formatError, useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()
let known: { readonly id: string; readonly fdc_id: number }
beforeAll(async () => {
  const { json } = await api.get("/v1/branded-foods?limit=1")
  const [first] = (json as { readonly data: ReadonlyArray<typeof known> }).data
  if (first === undefined) throw new Error("the samples contain no branded foods")
  known = first
})

const endpoints = [
  ["/v1/branded-foods", "search-branded-foods"],
  ["/v1/branded-foods/categories", "search-branded-foods"],
  ["/v1/branded-foods/:id", "get-branded-foods"]
] as const
const insertId = (path: string) => path.replace(":id", known.id)

describe.each(endpoints)("%s", (path, scope) => {
  it("costs 10 credits, and names the generation that it reads", async () => {
    const before = Number((await api.get("/v1/branded-foods?limit=0")).headers["x-credits-remaining"])
    const { headers, status } = await api.get(insertId(path))
    expect(status).toBe(200)
    expect([headers["x-credits-charged"], Number(headers["x-credits-remaining"])]).toEqual(["10", before - 10])
    expect(headers["x-data-version"]).toMatch(/^larder-\d{6}$/)
  })

  it("requires a key that has its scope", async () => {
    expect(formatError(await api.get(insertId(path), { key: undefined }))).toBe(
      "401 unauthorized: Missing or malformed Authorization: Bearer header"
    )
    expect(formatError(await api.get(insertId(path), { key: `svc_data_${"x".repeat(64)}` }))).toBe(
      "401 unauthorized: Unknown or revoked API key"
    )
    const allowed = await createKey(api.home(), { scopes: [scope] })
    expect((await api.get(insertId(path), { key: allowed.key })).status).toBe(200)
    const other = scope === "get-branded-foods" ? "search-branded-foods" : "get-branded-foods"
    const otherScope = await createKey(api.home(), { scopes: [other, "search-commodities"] })
    expect(formatError(await api.get(insertId(path), { key: otherScope.key }))).toBe(
      `403 forbidden: This key is not scoped to ${scope}`
    )
  })

  it("responds with 402 at the spend cap and without balance, before a record is looked up", async () => {
    const capped = await createKey(api.home(), { budget: 10 })
    expect((await api.get(insertId(path), { key: capped.key })).status).toBe(200)
    const refused = await api.get(insertId(path), { key: capped.key })
    expect(formatError(refused)).toBe("402 insufficient_balance: Monthly spend cap reached")
    expect(refused.headers["x-credits-charged"]).toBe("0")
    expect((await api.get("/v1/branded-foods/none", { key: capped.key })).status).toBe(402)
    expect((await api.get(`${insertId(path)}?nothing=1`, { key: capped.key })).status).toBe(400)

    const unpaid = await createKey(api.home())
    for (let call = 0; call < 50; call++) await api.get("/v1/stores", { key: unpaid.key })
    expect(formatError(await api.get(insertId(path), { key: unpaid.key }))).toBe(
      "402 insufficient_balance: Insufficient balance"
    )
  })

  it.each(["nothing=1", "offset=1", "fdc_id=1", "Name=x", "name%5B%5D=x"])(
    "responds with 400 and names an unknown parameter: %s",
    async (query) => {
      const name = decodeURIComponent(query.split("=")[0] ?? "")
      const reply = await api.get(`${insertId(path)}?${query}`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: /)
      expect(formatError(reply)).toContain(name)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  )

  it("responds with 404 to a trailing slash, and 405 to POST", async () => {
    expect((await api.get(`${insertId(path)}/`)).status).toBe(404)
    expect((await api.get(insertId(path), { method: "POST" })).status).toBe(405)
  })
})

describe("parameters of the search", () => {
  it.each(["name", "brand", "category", "barcode", "ingredient", "limit", "cursor"])(
    "rejects a repeated parameter and names it: %s",
    async (name) => {
      const reply = await api.get(`/v1/branded-foods?${name}=1&${name}=1`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: /)
      expect(formatError(reply)).toContain(name)
    }
  )

  it.each(["201", "1000", "9".repeat(50)])("rejects a `limit` above 200: %s", async (limit) => {
    expect(formatError(await api.get(`/v1/branded-foods?limit=${limit}`))).toBe(
      "400 invalid_request: at most 200 per page"
    )
  })

  it.each(["0", "000", "-1", "1.5", "x", "", "1e2", "+1", " 1", "１"])(
    "rejects a `limit` that is not a whole number of at least 1: '%s'",
    async (limit) => {
      expect(formatError(await api.get(`/v1/branded-foods?limit=${encodeURIComponent(limit)}`))).toBe(
        "400 invalid_request: limit must be a whole number of at least 1"
      )
    }
  )

  it.each(["name", "brand", "category", "barcode", "ingredient", "limit", "cursor"])(
    "rejects a parameter of the search on the two other endpoints: %s",
    async (name) => {
      for (const path of ["/v1/branded-foods/categories", insertId("/v1/branded-foods/:id")]) {
        const reply = await api.get(`${path}?${name}=1`)
        expect(formatError(reply)).toMatch(/^400 invalid_request: /)
        expect(formatError(reply)).toContain(name)
      }
    }
  )
})

describe("the id of a branded food", () => {
  const expectUnknown = async (id: string, shown = decodeURIComponent(id)) => {
    const reply = await api.get(`/v1/branded-foods/${id}`)
    expect([formatError(reply), reply.headers["x-credits-charged"]]).toEqual([
      `404 not_found: Unknown branded food: ${shown}`,
      "0"
    ])
  }

  it("has the prefix and an opaque part, which is not the fdc_id", async () => {
    expect(known.id).toMatch(/^data_branded_food_[0-9a-z]+$/)
    expect(known.id).not.toContain(String(known.fdc_id))
    expect(known.id).toBe(brandedFoodId(known.fdc_id))
  })

  it("is unknown in any other spelling", async () => {
    const { fdc_id, id } = known
    await expectUnknown(id.toUpperCase())
    await expectUnknown(id.slice(0, -1))
    await expectUnknown(`${id}0`)
    await expectUnknown(`0${id}`)
    await expectUnknown(`${id}%20`)
    await expectUnknown(`%20${id}`)
    await expectUnknown(`${id}%0A`)
    await expectUnknown(`${id}%00`)
    await expectUnknown(`${id}%2F`)
    await expectUnknown(id.replace("data_branded_food_", ""))
    await expectUnknown(id.replace("food", "foods"))
    await expectUnknown(String(fdc_id))
    await expectUnknown(`data_branded_food_${fdc_id}`)
    await expectUnknown("data_branded_food_")
    await expectUnknown("data_branded_food_zzzzzzz")
    await expectUnknown("data_branded_food_0123456789")
    await expectUnknown(brandedFoodId(1))
    await expectUnknown("platform_product_1")
    await expectUnknown("a".repeat(2000))
  })

  it("is read with `%2F` and other escapes as part of it", async () => {
    await expectUnknown("a%2Fb")
    await expectUnknown("categories%2F")
    await expectUnknown("%C3%BC%25")
    const { id } = known
    const escaped = id.replace("_", "%5F")
    expect((await api.get(`/v1/branded-foods/${escaped}`)).json).toMatchObject({ data: { id } })
    expect((await api.get(`/v1/branded-foods/${id}/more`)).status).toBe(404)
    expect(formatError(await api.get(`/v1/branded-foods/${id}/more`))).toBe("404 not_found: No such endpoint")
  })
})
