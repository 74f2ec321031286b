import { isDay } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()

/** Every name of every object in a body, except the free keys of `attributes` and `details`. */
const listNames = (node: unknown): ReadonlyArray<string> => {
  if (Array.isArray(node)) return node.flatMap(listNames)
  if (typeof node !== "object" || node === null) return []
  return Object.entries(node).flatMap(([name, value]) => [
    name,
    ...(name === "attributes" || name === "details" ? [] : listNames(value))
  ])
}
const listValues = (name: string, node: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(node)) return node.flatMap((item) => listValues(name, item))
  if (typeof node !== "object" || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => (key === name ? [value] : listValues(name, value)))
}

const lists = [
  "/v1/commodities",
  "/v1/commodities?commodity=butter",
  "/v1/commodities/prices?series=butter-sales-price-weekly",
  "/v1/commodities/metric-values?metrics=butter_sales_price_weekly",
  "/v1/branded-foods/categories"
]
const pages = ["/v1/commodities?limit=3", "/v1/commodities?category=dairy", "/v1/branded-foods", "/v1/stores"]

describe("envelopes", () => {
  it.each(lists)("a list is { data: [...] } with no other member: %s", async (target) => {
    const { json, status } = await api.get(target)
    expect(status).toBe(200)
    expect(json).toEqual({ data: expect.any(Array) })
  })

  it.each(pages)("a paged list is { data: [...], next_cursor }: %s", async (target) => {
    const { json, status, text } = await api.get(target)
    expect(status).toBe(200)
    expect(json).toEqual({
      data: expect.any(Array),
      next_cursor: expect.toSatisfy((c) => c === null || typeof c === "string")
    })
    expect(text).toMatch(/,"next_cursor":(null|"[\w-]+")\}$/)
  })

  it.each([
    ["/v1/nothing", 404],
    ["/v1/commodities?limit=0", 400],
    ["/v1/products/none", 404]
  ])("an error is { error: { type, message } } with no other member: %s", async (target, status) => {
    const reply = await api.get(target)
    expect(reply.status).toBe(status)
    expect(reply.json).toEqual({ error: { type: expect.any(String), message: expect.any(String) } })
  })

  it("field names are snake_case in all responses", async () => {
    const bodies = await Promise.all([...lists, ...pages].map(async (target) => (await api.get(target)).json))
    const names = new Set(bodies.flatMap(listNames))
    expect(names.size).toBeGreaterThan(20)
    expect([...names].filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([])
  })

  it("dates are calendar days, YYYY-MM-DD", async () => {
    const bodies = await Promise.all([...lists, ...pages].map(async (target) => (await api.get(target)).json))
    const days = ["date", "from", "to", "first_observed_on", "last_observed_on"].flatMap((name) =>
      listValues(name, bodies)
    )
    expect(days.length).toBeGreaterThan(800)
    expect(days.filter((day) => day !== null && !isDay(String(day)))).toEqual([])
  })
})
