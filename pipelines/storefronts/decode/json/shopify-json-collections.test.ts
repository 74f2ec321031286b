/** Collections of a Shopify storefront, their members, and the facts that a shop states about itself. */
import { assert, describe, it } from "@effect/vitest"
import { describeRejection, type Fields, responseTime } from "@larder/test/support/pipelines/shopify-responses.ts"
import { FeedStats } from "../feed-stats.ts"
import { readCollections, readMembers, readMeta } from "./shopify-json.ts"

const aCollection = (fields: Fields = {}) => ({
  id: 290_000_000_001,
  title: "Preserves ",
  handle: "preserves",
  description: "<p>Jars &amp; tins</p>",
  published_at: "2026-01-02T10:00:00+01:00",
  updated_at: "2026-02-01T10:00:00+01:00",
  image: { id: 1, created_at: responseTime, src: "//cdn.example.com/c.jpg", width: 300, height: 200, alt: null },
  products_count: 33,
  ...fields
})
const collectionsOf = (...collections: ReadonlyArray<unknown>) => readCollections(JSON.stringify({ collections }))

describe("a page of collections", () => {
  it("becomes rows of collections", () => {
    const minimal = { id: 2, title: "New", handle: "new", description: "", image: null, published_at: null }
    const { ids, entryCount, batch } = collectionsOf(aCollection(), { ...minimal, updated_at: responseTime })
    assert.deepStrictEqual([ids, entryCount, batch.rows, batch.rejects], [["290000000001", "2"], 2, [], []])
    assert.deepStrictEqual(batch.collections, [
      {
        native_id: "290000000001",
        title: "Preserves",
        handle: "preserves",
        description: "Jars & tins",
        image: { src: "https://cdn.example.com/c.jpg", width: 300, height: 200 },
        published_at: "2026-01-02T09:00:00.000Z",
        updated_at: "2026-02-01T09:00:00.000Z"
      },
      {
        native_id: "2",
        title: "New",
        handle: "new",
        description: null,
        image: null,
        published_at: null,
        updated_at: "2026-03-02T09:00:00.000Z"
      }
    ])
  })

  it("has no update times if all of them are within a minute of the response", () => {
    const page = collectionsOf(
      aCollection({ updated_at: responseTime }),
      aCollection({ id: 2, updated_at: "2026-03-02T10:00:01+01:00" })
    )
    assert.deepStrictEqual(
      page.batch.collections.map(({ updated_at }) => updated_at),
      [null, null]
    )
    assert.isNull(collectionsOf(aCollection()).batch.collections[0]?.updated_at)
  })

  it("rejects a collection without a title, and keeps the others", () => {
    const { batch } = collectionsOf(aCollection({ title: null }), aCollection({ id: 2 }))
    assert.deepStrictEqual(
      [batch.rejects.map(({ position, reason }) => [position, reason]), batch.collections.length],
      [[[1, "it has no title"]], 1]
    )
  })

  it.each(["body_html", "sort_order", "rules", "admin_graphql_api_id"])(
    "is rejected as one of the Admin API when it has %s",
    (key) => {
      const { kind, problem } = describeRejection(() => collectionsOf(aCollection({ [key]: null })))
      assert.strictEqual(kind, "other shape")
      assert.match(problem, /^these are collections of the Admin API/)
    }
  )
})

describe("members of a collection", () => {
  it("are ids in the shop's order, with positions that continue from page to page", () => {
    const text = JSON.stringify({ products: [{ id: 9_007_199_254_740_991 }, { id: "5" }] })
    const { ids, entryCount, batch } = readMembers(text, "290000000001", 250)
    assert.deepStrictEqual([ids, entryCount, batch.rows, batch.products], [["9007199254740991", "5"], 2, [], []])
    assert.deepStrictEqual(batch.members, [
      { collection_native_id: "290000000001", product_native_id: "9007199254740991", position: 251 },
      { collection_native_id: "290000000001", product_native_id: "5", position: 252 }
    ])
  })

  it.each([[null], [{ id: "five" }], [{}]])("fail as other shape when one of them has no id: %j", (member) => {
    const { kind, problem } = describeRejection(() =>
      readMembers(JSON.stringify({ products: [{ id: 1 }, member] }), "1", 0)
    )
    assert.deepStrictEqual([kind, problem], ["other shape", "number 2 of the list is a product without an id"])
  })
})

describe("the facts that a shop states about itself", () => {
  it("are read field by field", () => {
    const meta = {
      id: 58_000_000_001,
      name: "Hill Orchard",
      city: "Graz",
      province: "",
      country: "AT",
      currency: "EUR",
      domain: "Hill.example.com",
      url: "https://hill.example.com",
      myshopify_domain: "hill.myshopify.example",
      description: " Jams ",
      published_collections_count: 0,
      published_products_count: 62
    }
    assert.deepStrictEqual(readMeta(JSON.stringify(meta)), {
      platform_shop_id: "58000000001",
      name: "Hill Orchard",
      description: "Jams",
      url: "https://hill.example.com",
      domain: "hill.example.com",
      myshopify_domain: "hill.myshopify.example",
      currency: "EUR",
      country: "AT",
      province: null,
      city: "Graz",
      language: null,
      published_products_count: 62,
      published_collections_count: 0
    })
  })

  it.each([
    ["currency", "euro", 'its currency is "euro", which is not an ISO 4217 code'],
    ["country", "Austria", 'its country is "Austria", which is not an ISO 3166-1 alpha-2 code'],
    ["published_products_count", "many", 'its published_products_count is "many", which is not a number of entries']
  ])("are not read when %s is %j", (key, value, problem) => {
    const text = JSON.stringify({ id: 1, [key]: value })
    assert.deepStrictEqual(
      describeRejection(() => readMeta(text)),
      { kind: "mistyped", problem }
    )
  })

  it("are null where an optional one cannot be read, which is recorded", () => {
    const stats = new FeedStats()
    const { name, url } = readMeta(JSON.stringify({ id: 1, name: {}, url: "hill" }), stats)
    assert.deepStrictEqual([name, url], [null, null])
    assert.deepStrictEqual(stats.takeOddValues(), [
      { field: "name", said: "{}" },
      { field: "url", said: "hill" }
    ])
  })

  it("may include Namibia", () => {
    assert.strictEqual(readMeta(JSON.stringify({ id: 1, country: "NA" })).country, "NA")
  })

  it("include a language that is stated as a locale, but only if it is a code", () => {
    assert.deepStrictEqual(
      ["de-AT", "Austrian German"].map((locale) => readMeta(JSON.stringify({ id: 1, locale })).language),
      ["de-AT", null]
    )
  })

  it.each([
    ["html", "<html></html>"],
    ["not json", "{"],
    ["other shape", '{"ok":true}'],
    ["other shape", "[1]"]
  ])("are not read from %s: %s", (kind, text) => {
    assert.strictEqual(describeRejection(() => readMeta(text)).kind, kind)
  })
})
