/** Stores: their records, their search and its pages. */
import { cursorScope, encodeCursor } from "@larder/serve/api/cursor.ts"
import { beforeAll, describe, expect, it } from "vitest"
import { administer } from "../support/api/operator.ts"
import { fetchPages } from "../support/api/pages.ts"
import { formatError, startOwnServer } from "../support/api/server.ts"
import { aCollection, aProduct, aStore, firstRead, makeHome } from "../support/stores.ts"

const food = "food_beverages_and_tobacco"
const clothes = "apparel_and_accessories"

const stores = [
  aStore({
    store_id: "platform_store_oat",
    name: "Oat_Mill 100%",
    domain: "oats.example.com",
    url: "https://oats.example.com/",
    description: 'Oats, "rolled"\n& cut.',
    country: "CH",
    currency: "CHF",
    language: "de-CH",
    city: "Chur"
  }),
  aStore({ store_id: "platform_store_bread", name: "alpine BÄCKEREI", domain: "brot.Example.org", country: "CH" }),
  aStore({ store_id: "platform_store_same2", name: "Corner shop", country: "US" }),
  aStore({ store_id: "platform_store_same1", name: "corner SHOP", country: "US" }),
  aStore({ store_id: "platform_store_partial", name: "Zebra \\ Sons", fetch_status: "partial" }),
  aStore({
    store_id: "platform_store_locked",
    name: "Behind a password",
    domain: "locked.example.com",
    fetch_status: "failed",
    outcome: "password",
    fetched_at: null
  })
]
const sortedNames = ["bread", "locked", "same1", "same2", "oat", "partial"]

/** More than fit into a page, all with the same name. */
const crowd = Array.from({ length: 205 }, (_, index) =>
  aStore({ store_id: `platform_store_${String((index * 83) % 205).padStart(3, "0")}`, name: "Crowd", country: "NZ" })
)

const makeProducts = (store: string, category: string, count: number) =>
  Array.from({ length: count }, (_, index) =>
    aProduct({
      store_id: `platform_store_${store}`,
      product_id: `platform_product_${store}_${category}_${index}`,
      category
    })
  )
const products = [
  ...makeProducts("oat", clothes, 1),
  ...makeProducts("oat", "uncategorized", 2),
  ...makeProducts("oat", food, 3),
  ...makeProducts("bread", food, 2),
  ...makeProducts("bread", clothes, 2),
  ...makeProducts("partial", "uncategorized", 1)
]
const collections = [1, 2].map((number) =>
  aCollection({ store_id: "platform_store_oat", collection_id: `platform_collection_${number}` })
)

const api = startOwnServer({ home: () => makeHome({ stores: [...stores, ...crowd], products, collections }) })
beforeAll(() =>
  administer(api.home(), (ledger) =>
    ledger.creditAccount({ account_id: api.key().account_id, credits: 90_000, note: "searches" })
  )
)

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string; readonly country: string | null }>
  readonly next_cursor: string | null
}
const search = async (query: string) => {
  const reply = await api.get(`/v1/stores?${query}`)
  expect(reply.status).toBe(200)
  return reply.json as Page
}
const listIds = (rows: ReadonlyArray<unknown>) =>
  (rows as Page["data"]).map(({ id }) => id.replace("platform_store_", ""))

const oat = {
  id: "platform_store_oat",
  name: "Oat_Mill 100%",
  domain: "oats.example.com",
  url: "https://oats.example.com/",
  description: 'Oats, "rolled"\n& cut.',
  country: "CH",
  currency: "CHF",
  language: "de-CH",
  category: food,
  categories: [
    { category: food, product_count: 3 },
    { category: "uncategorized", product_count: 2 },
    { category: clothes, product_count: 1 }
  ],
  product_count: 6,
  collection_count: 2,
  fetch_status: "complete",
  first_seen_at: firstRead,
  fetched_at: firstRead,
  source: "platform"
}

describe("a store", () => {
  const getRecord = async (id: string) => {
    const { headers, json, status } = await api.get(`/v1/stores/platform_store_${id}`)
    expect([status, headers["x-credits-charged"]]).toEqual([200, "100"])
    return (json as { readonly data: unknown }).data
  }

  it("has all its known fields, and counts its products and collections", async () => {
    expect(await getRecord("oat")).toEqual(oat)
    expect(Object.keys((await getRecord("oat")) as object)).toEqual(Object.keys(oat))
  })

  it("is the same record in the search", async () => {
    expect((await search("query=oats.example")).data).toEqual([oat])
  })

  it("orders its categories by count, and equal counts by name", async () => {
    expect(await getRecord("bread")).toMatchObject({
      category: clothes,
      categories: [
        { category: clothes, product_count: 2 },
        { category: food, product_count: 2 }
      ]
    })
  })

  it("has empty fields if it was never read", async () => {
    expect(await getRecord("locked")).toEqual({
      ...oat,
      id: "platform_store_locked",
      name: "Behind a password",
      domain: "locked.example.com",
      url: "https://shop.example.com",
      description: null,
      country: null,
      currency: null,
      language: null,
      category: "uncategorized",
      categories: [],
      product_count: 0,
      collection_count: 0,
      fetch_status: "failed",
      fetched_at: null
    })
  })

  it("can be read in part, and can have only uncategorized products", async () => {
    expect(await getRecord("partial")).toMatchObject({
      fetch_status: "partial",
      category: "uncategorized",
      categories: [{ category: "uncategorized", product_count: 1 }],
      product_count: 1
    })
  })

  it.each(["oat%20", "OAT", "oa", "oatt", "", "oat%2F", "%00"])(
    "is unknown in any other spelling: '%s'",
    async (id) => {
      const reply = await api.get(`/v1/stores/platform_store_${id}`)
      expect(formatError(reply)).toBe(`404 not_found: Unknown store: platform_store_${decodeURIComponent(id)}`)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  )
})

describe("the search", () => {
  it("lists all stores, by lower-cased name, then by id", async () => {
    const rows = (await fetchPages(api.get, "/v1/stores?limit=200")).flat()
    const [bread, locked, same1, same2, ...rest] = sortedNames
    const numbers = crowd.map((_, index) => String(index).padStart(3, "0"))
    expect(listIds(rows)).toEqual([bread, locked, same1, same2, ...numbers, ...rest])
  })

  it.each([
    ["oat", ["oat"]],
    ["OAT_MILL", ["oat"]],
    ["bäck", ["bread"]],
    ["BÄCKEREI", ["bread"]],
    ["back", []],
    ["example.org", ["bread"]],
    ["BROT.", ["bread"]],
    ["_", ["oat"]],
    ["%", ["oat"]],
    ["*", []],
    ["\\", ["partial"]],
    ["corner shop", ["same1", "same2"]],
    ["cornershop", []],
    [" shop", ["same1", "same2"]],
    ["millions", []],
    ["Chur", []],
    ["rolled", []]
  ])("finds `query` in the name or the domain, literally and ignoring case: '%s'", async (query, expected) => {
    const { data } = await search(`query=${encodeURIComponent(query)}`)
    expect(listIds(data)).toEqual(expected)
  })

  it.each([
    [food, ["bread", "oat"]],
    [clothes, ["bread", "oat"]],
    ["uncategorized", ["oat", "partial"]],
    ["food", []],
    [food.toUpperCase(), []],
    ["%", []]
  ])("finds the stores that have the `category`: '%s'", async (category, expected) => {
    expect(listIds((await search(`category=${encodeURIComponent(category)}`)).data)).toEqual(expected)
  })

  it.each([
    ["CH", ["bread", "oat"]],
    ["ch", ["bread", "oat"]],
    ["US", ["same1", "same2"]],
    ["LI", []]
  ])("finds the stores of the `country`, in either case: %s", async (country, expected) => {
    expect(listIds((await search(`country=${country}`)).data)).toEqual(expected)
  })

  it.each([
    [`query=o&category=${food}&country=CH`, ["bread", "oat"]],
    [`query=oat&category=${food}&country=CH`, ["oat"]],
    [`query=oat&category=${food}&country=US`, []],
    [`query=oat&category=uncategorized`, ["oat"]],
    [`query=zebra&category=${food}`, []],
    ["query=corner&country=us", ["same1", "same2"]]
  ])("combines filters: %s", async (query, expected) => {
    expect(listIds((await search(query)).data)).toEqual(expected)
  })

  it("ignores empty filters", async () => {
    expect(await search("query=&category=&country=&cursor=&limit=3")).toEqual(await search("limit=3"))
  })

  it("is charged even if it finds nothing", async () => {
    const { headers, status, text } = await api.get("/v1/stores?query=nobody")
    expect([status, text, headers["x-credits-charged"]]).toEqual([200, '{"data":[],"next_cursor":null}', "100"])
  })
})

describe("pages of stores", () => {
  it("returns 50 stores by default, and 200 for any larger `limit`", async () => {
    expect((await search("country=NZ")).data.length).toBe(50)
    const largestPage = await search("country=NZ&limit=200")
    expect(largestPage.data.length).toBe(200)
    for (const limit of ["201", "205", "1000000", "9".repeat(400)]) {
      expect(await search(`country=NZ&limit=${limit}`)).toEqual(largestPage)
    }
  })

  it.each([41, 50, 100, 204, 200])("returns the whole list in pages of %i, each store once", async (limit) => {
    const rows = (await fetchPages(api.get, `/v1/stores?country=NZ&limit=${limit}`)).flat()
    expect(listIds(rows)).toEqual(crowd.map((_, index) => String(index).padStart(3, "0")))
  })

  it("ends with a null cursor, even if the last page is exactly full", async () => {
    expect((await search("country=CH&limit=2")).next_cursor).toBeNull()
    const first = await search("country=CH&limit=1")
    const last = await search(`country=CH&limit=1&cursor=${first.next_cursor}`)
    expect([listIds(first.data), listIds(last.data), last.next_cursor]).toEqual([["bread"], ["oat"], null])
  })

  it("accepts a cursor with another `limit`, and rejects it with other filters", async () => {
    const { next_cursor } = await search("query=c&limit=1")
    expect((await search(`query=c&limit=3&cursor=${next_cursor}`)).data.length).toBe(3)
    for (const query of ["limit=1", "query=co", "query=c&country=US", `query=c&category=${food}`]) {
      expect(formatError(await api.get(`/v1/stores?${query}&cursor=${next_cursor}`))).toMatch(
        /^400 invalid_request: cursor /
      )
    }
  })

  it("rejects positions that the API never issued, and charges nothing", async () => {
    const scope = cursorScope("searchStores", "", {})
    for (const position of [
      [null, "platform_store_oat"],
      ["crowd", null]
    ]) {
      const reply = await api.get(`/v1/stores?cursor=${encodeCursor(scope, position)}`)
      expect(formatError(reply)).toMatch(/^400 invalid_request: cursor /)
      expect(reply.headers["x-credits-charged"]).toBe("0")
    }
  })
})
