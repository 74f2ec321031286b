import { assert, describe, it } from "@effect/vitest"
import type { JsonSchema } from "effect"
import { brandedFoods } from "./branded-food/endpoints.ts"
import { commodities } from "./commodity/endpoints.ts"
import { endpoints, scopes } from "./data-sets.ts"
import type { Endpoint } from "./endpoint.ts"
import { ErrorBody } from "./error-types.ts"
import { componentSchemas } from "./json-schema.ts"
import { storefronts } from "./storefront/endpoints.ts"

/** The endpoints of the contract. Data sets that were added later have separate tests. */
const contractEndpoints = [commodities, brandedFoods, storefronts].flatMap(
  ({ endpoints }): ReadonlyArray<Endpoint> => endpoints
)
const mapByPath = <A>(value: (endpoint: Endpoint) => A) =>
  Object.fromEntries(contractEndpoints.map((endpoint) => [endpoint.path, value(endpoint)]))

describe("the list of endpoints", () => {
  it("has each path and each operation only once, and the 11 of the contract first", () => {
    assert.strictEqual(new Set(endpoints.map(({ path }) => path)).size, endpoints.length)
    assert.strictEqual(new Set(endpoints.map(({ id }) => id)).size, endpoints.length)
    assert.deepStrictEqual(endpoints.slice(0, 11), contractEndpoints)
  })
  it("requires a scope for each path, and uses every scope", () => {
    assert.deepStrictEqual(
      mapByPath(({ scope }) => scope),
      {
        "/v1/commodities": "search-commodities",
        "/v1/commodities/prices": "get-commodity-prices",
        "/v1/commodities/metric-values": "get-commodity-prices",
        "/v1/branded-foods": "search-branded-foods",
        "/v1/branded-foods/categories": "search-branded-foods",
        "/v1/branded-foods/:id": "get-branded-foods",
        "/v1/stores": "search-stores",
        "/v1/stores/:id": "get-store",
        "/v1/stores/:id/products": "get-store-products",
        "/v1/stores/:id/collections": "get-store-collections",
        "/v1/products/:id": "get-product"
      }
    )
    assert.deepStrictEqual(scopes, [
      "search-commodities",
      "get-commodity-prices",
      "search-branded-foods",
      "get-branded-foods",
      "search-stores",
      "get-store",
      "get-store-products",
      "get-store-collections",
      "get-product"
    ])
  })
  it("charges 10 credits for commodities and branded foods, 100 for storefronts", () => {
    assert.deepStrictEqual(
      mapByPath(({ credits }) => credits),
      {
        "/v1/commodities": 10,
        "/v1/commodities/prices": 10,
        "/v1/commodities/metric-values": 10,
        "/v1/branded-foods": 10,
        "/v1/branded-foods/categories": 10,
        "/v1/branded-foods/:id": 10,
        "/v1/stores": 100,
        "/v1/stores/:id": 100,
        "/v1/stores/:id/products": 100,
        "/v1/stores/:id/collections": 100,
        "/v1/products/:id": 100
      }
    )
  })
  it("declares the parameters of each path", () => {
    const dates = ["from", "to"]
    const page = ["limit", "cursor"]
    assert.deepStrictEqual(
      mapByPath(({ parameters }) => Object.keys(parameters)),
      {
        "/v1/commodities": ["commodity", "category", ...page],
        "/v1/commodities/prices": ["series", ...dates],
        "/v1/commodities/metric-values": ["metrics", ...dates],
        "/v1/branded-foods": ["name", "brand", "category", "barcode", "ingredient", ...page],
        "/v1/branded-foods/categories": [],
        "/v1/branded-foods/:id": [],
        "/v1/stores": ["query", "category", "country", ...page],
        "/v1/stores/:id": [],
        "/v1/stores/:id/products": page,
        "/v1/stores/:id/collections": page,
        "/v1/products/:id": []
      }
    )
  })
  it("has a record for exactly the paths with an id", () => {
    for (const { path, record } of endpoints) assert.strictEqual(record !== undefined, path.includes(":id"), path)
  })
})

describe("records", () => {
  const { components } = componentSchemas([ErrorBody, ...endpoints.map(({ response }) => response)])
  const records = Object.entries(components)
  const listFields = (record: JsonSchema.JsonSchema) => Object.entries(record.properties ?? {})

  it.each(records)("%s and each of its fields have a description", (_name, record) => {
    assert.isString(record.description)
    for (const [field, { description, $ref }] of listFields(record)) {
      const target = components[String($ref).replace("#/components/schemas/", "")]
      assert.isNotEmpty(description ?? target?.description, field)
    }
  })
  it.each(records)("%s has snake_case fields that are all required, unless it is label nutrition", (name, record) => {
    const fields = listFields(record).map(([field]) => field)
    for (const field of fields) assert.match(field, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
    // Only label nutrition omits keys: a nutrient that the label does not state has none.
    assert.deepStrictEqual(record.required ?? [], name === "BrandedFoodNutrition" ? [] : fields)
  })
})
