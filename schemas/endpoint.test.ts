import { assert, describe, it } from "@effect/vitest"
import { invalid } from "./api-errors.ts"
import { searchBrandedFoods } from "./branded-food/endpoints.ts"
import { getCommodityMetricValues, getCommodityPrices, searchCommodities } from "./commodity/endpoints.ts"
import type { Endpoint } from "./endpoint.ts"
import { getStoreProducts, searchStores } from "./storefront/endpoints.ts"

const parse = (endpoint: Endpoint, query: string) => endpoint.parse(new URLSearchParams(query))

describe("commodities: the two shapes cannot be combined", () => {
  const conflict = invalid("parameters_conflict", "commodity cannot be combined with category, limit or cursor")
  it.each(["commodity=butter&category=dairy", "commodity=butter&limit=5", "cursor=x&commodity=butter"])(
    "rejects %s",
    (query) => {
      assert.deepStrictEqual(parse(searchCommodities, query), conflict)
    }
  )
  it.each(["commodity=&category=", "commodity=&cursor=", "commodity=&limit=5", "commodity=butter&cursor="])(
    "rejects both even if they are empty: %s",
    (query) => {
      assert.deepStrictEqual(parse(searchCommodities, query), conflict)
    }
  )
  it("accepts each shape alone, even if its parameters are empty", () => {
    const defaults = { commodity: undefined, category: undefined, limit: 100, cursor: undefined }
    assert.deepStrictEqual(parse(searchCommodities, "commodity="), { value: defaults })
    assert.deepStrictEqual(parse(searchCommodities, "category=&cursor="), { value: defaults })
    assert.deepStrictEqual(parse(searchCommodities, "category=dairy&limit=500"), {
      value: { ...defaults, category: "dairy", limit: 500 }
    })
  })
  it("reports a wrong value before the combination", () => {
    assert.deepStrictEqual(
      parse(searchCommodities, "commodity=butter&limit=501"),
      invalid("limit_too_large", "limit must be at most 500")
    )
  })
})

describe.each([
  { name: "prices", endpoint: getCommodityPrices, names: "series" },
  { name: "metric values", endpoint: getCommodityMetricValues, names: "metrics" }
])("$name: the order of checks", ({ endpoint, names }) => {
  const tooMany = Array(101).fill("a").join(",")
  it.each([
    ["from=x&to=x", "missing_parameter", `${names} is required: 1 to 100 names, separated by commas`],
    [`from=x&to=x&${names}=${tooMany}`, "too_many_names", `${names} takes at most 100 names, 101 were given`],
    [`to=x&from=x&${names}=a`, "invalid_parameter", "from must be a real calendar day in YYYY-MM-DD format"],
    [
      `to=2024-02-30&from=2025-01-01&${names}=a`,
      "invalid_parameter",
      "to must be a real calendar day in YYYY-MM-DD format"
    ],
    [`to=2024-01-01&from=2024-01-02&${names}=a`, "from_after_to", "from must not be after to"]
  ] as const)("reports only the first problem of %s", (query, code, message) => {
    assert.deepStrictEqual(parse(endpoint, query), invalid(code, message))
  })
  it("accepts one day as a range, and half-open ranges", () => {
    const day = "2024-01-01"
    assert.deepStrictEqual(parse(endpoint, `${names}=a&from=${day}&to=${day}`), {
      value: { [names]: ["a"], from: day, to: day }
    })
    assert.deepStrictEqual(parse(endpoint, `${names}=a&to=${day}`), {
      value: { [names]: ["a"], from: undefined, to: day }
    })
  })
})

describe("rows per page", () => {
  it("are rejected above 200 for branded foods", () => {
    assert.deepStrictEqual(parse(searchBrandedFoods, "limit=201"), invalid("limit_too_large", "at most 200 per page"))
  })
  it.each([searchStores, getStoreProducts])("are limited to 200 by $id if more are requested", (endpoint) => {
    const result = parse(endpoint, `limit=${"9".repeat(30)}`)
    assert.strictEqual("value" in result && result.value.limit, 200)
  })
})
