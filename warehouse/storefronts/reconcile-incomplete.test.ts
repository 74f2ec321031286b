/** Incomplete reads, and runs that are published in a different order than they read. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aLayout, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { listed, publishReads, shareStores, sightings, timeOfDay } from "@larder/test/support/warehouse/store-reads.ts"
import { Effect } from "effect"
import { storefront } from "../tables/storefront/data-set.ts"

const stores = shareStores()
const bread = { id: "bread", variants: [{ variant_id: "bread.1", price: 4.5 }] }
const cake = { id: "cake" }
const tea = { id: "tea" }

describe("a read that has all products but not all collections", () => {
  const fresh = { id: "fresh", set: { product_ids: ["bread", "cake"] } }
  const whole = stores(
    "whole",
    { day: 1, products: [bread, cake], collections: [fresh, { id: "sweet" }] },
    { day: 2, status: "partial", has_all_products: true, products: [cake] }
  )
  itLive("withdraws products, but no collections", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* whole.sightings, [
        ["bread", 1, 1, false],
        ["cake", 1, 2, true],
        ["fresh", 1, 1, true],
        ["sweet", 1, 1, true]
      ])
      assert.deepStrictEqual(yield* whole.listed, ["cake"])
      assert.deepStrictEqual((yield* whole.history).at(-1), [2, "bread.1", "gone", null])
    })
  )
})

describe("a read that saw everything but rejected some", () => {
  const fresh = { id: "fresh", set: { product_ids: ["bread", "cake"] } }
  const rejected = stores(
    "rejected",
    { day: 1, products: [bread, cake], collections: [fresh, { id: "sweet" }] },
    {
      day: 2,
      status: "partial",
      outcome: "rejected",
      has_all_products: true,
      products: [cake],
      collections: [{ id: "fresh", set: { product_ids: ["cake"] } }]
    }
  )
  itLive("withdraws products and collections, and replaces the members of the others", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* rejected.sightings, [
        ["bread", 1, 1, false],
        ["cake", 1, 2, true],
        ["fresh", 1, 2, true],
        ["sweet", 1, 1, false]
      ])
      assert.deepStrictEqual(yield* rejected.rows("native_id, len(product_ids)::integer as members", "collection"), [
        { native_id: "rejected/fresh", members: 1 },
        { native_id: "rejected/sweet", members: 0 }
      ])
    })
  )
})

describe("a partial read", () => {
  const pricier = { id: "bread", variants: [{ variant_id: "bread.1", price: 5 }] }
  const growing = stores(
    "growing",
    { day: 1, products: [bread, cake], collections: [{ id: "fresh" }] },
    { day: 2, status: "partial", products: [pricier, tea] }
  )
  itLive("loads what is new or changed, and withdraws nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* growing.listed, ["bread", "cake", "tea"])
      assert.deepStrictEqual(yield* growing.sightings, [
        ["bread", 1, 2, true],
        ["cake", 1, 1, true],
        ["tea", 2, 2, true],
        ["fresh", 1, 1, true]
      ])
      assert.deepStrictEqual(
        (yield* growing.history).filter(([day]) => day !== 1),
        [
          [2, "bread.1", "changed", 5],
          [2, "tea.1", "first_seen", 2.5]
        ]
      )
    })
  )
  const facts = { description: "Since 1998", city: "Chișinău", country: "RO", currency: "MDL" }
  const known = stores("known", { day: 1, set: facts }, { day: 2, status: "partial", set: { country: "MD" } })
  itLive("keeps the facts of the store that it did not read", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* known.rows(
          "description, city, country, currency, fetched_at, fetch_status",
          "(from storefront.store join storefront.store_status using (store_id))"
        ),
        [{ ...facts, country: "MD", fetched_at: timeOfDay(2), fetch_status: "partial" }]
      )
    })
  )
  const two = { id: "bread", variants: [{ variant_id: "bread.1" }, { variant_id: "bread.2" }] }
  const fewer = { id: "bread", variants: [{ variant_id: "bread.1", price: 9 }] }
  const variants = "regexp_replace(variant_id, '^.*/', '') as variant_id, price::double as price"
  const incomplete = stores(
    "half",
    { day: 1, products: [two] },
    {
      day: 2,
      status: "partial",
      products: [
        { ...fewer, may_be_incomplete: true },
        { ...tea, may_be_incomplete: true }
      ]
    }
  )
  itLive("keeps the row of a product that lacks variants, if some of its rows may be missing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* incomplete.rows(variants, "variant"), [
        { variant_id: "bread.1", price: 2.5 },
        { variant_id: "bread.2", price: 2.5 },
        { variant_id: "tea.1", price: 2.5 }
      ])
      assert.deepStrictEqual((yield* incomplete.sightings)[0], ["bread", 1, 1, true]) // last seen on day 1: its row is unchanged
      assert.deepStrictEqual(
        (yield* incomplete.history).filter(([day]) => day !== 1),
        [[2, "tea.1", "first_seen", 2.5]]
      )
    })
  )
  const withMembers = (id: string, ...product_ids: ReadonlyArray<string>) => ({ id, set: { product_ids } })
  const members = stores(
    "members",
    {
      day: 1,
      products: [bread, cake, tea],
      collections: [withMembers("fresh", "bread", "cake"), withMembers("sweet", "cake")]
    },
    {
      day: 2,
      status: "partial",
      products: [bread, cake, tea],
      collections: [withMembers("fresh", "cake"), withMembers("sweet", "tea", "cake")]
    }
  )
  itLive("keeps a collection if members are missing, and replaces one that grew", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* members.rows("collection_id, product_ids", "collection"), [
        { collection_id: "members/fresh", product_ids: ["members/bread", "members/cake"] },
        { collection_id: "members/sweet", product_ids: ["members/tea", "members/cake"] }
      ])
    })
  )
  const pages = stores("pages", { day: 1, products: [two] }, { day: 2, status: "partial", products: [fewer] })
  itLive("marks a missing variant as gone if its product is complete, as in the pages of a store", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* pages.rows(variants, "variant"), [{ variant_id: "bread.1", price: 9 }])
      assert.deepStrictEqual((yield* pages.history).at(-1), [2, "bread.2", "gone", null])
    })
  )
})

describe("a partial read that finds nothing new", () => {
  itLive("changes no row of the stores", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const rows = Effect.gen(function* () {
        const found: Record<string, unknown> = {}
        for (const { name } of storefront.tables)
          found[name] = yield* queryWarehouse(layout, `from storefront.${name} order by all`)
        return found
      })
      const fresh = { id: "fresh", set: { product_ids: ["bread", "cake"] } }
      yield* publishReads(layout, { day: 1, products: [bread, cake, tea], collections: [fresh], set: { city: "Oslo" } })
      yield* publishReads(layout, { day: 2, products: [bread, cake], collections: [fresh], set: { city: "Oslo" } })
      const before = yield* rows
      yield* publishReads(layout, { day: 3, status: "partial", products: [cake], collections: [fresh] })
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select count(*)::integer as reads from ingest.store_read"),
        [{ reads: 3 }]
      )
    })
  )
})

describe("the last-seen time", () => {
  const pricier = { id: "bread", variants: [{ variant_id: "bread.1", price: 5 }] }
  const before = [
    { day: 1, products: [bread, cake, tea] },
    { day: 2, products: [bread, cake] },
    { day: 3, products: [bread, cake] },
    { day: 4, status: "partial", products: [pricier, cake, tea] },
    { day: 5, status: "failed" }
  ] as const
  const lastSeen = stores("seen", ...before)
  itLive(
    "is the time of the last complete read, or of a later read that found the item new, changed or listed again",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* lastSeen.sightings, [
          ["bread", 1, 4, true],
          ["cake", 1, 3, true], // also found on day 4, unchanged
          ["tea", 1, 4, true]
        ])
      })
  )
  const withdrawn = stores("withdrawn", ...before, { day: 6, products: [pricier] }, { day: 7, products: [pricier] })
  itLive("does not change after the item is withdrawn", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withdrawn.sightings, [
        ["bread", 1, 7, true],
        ["cake", 1, 3, false],
        ["tea", 1, 4, false]
      ])
      assert.deepStrictEqual(
        yield* withdrawn.rows(
          "day(listed_since)::integer as since, day(last_seen_at)::integer as last",
          "sighting",
          "id"
        ),
        [
          { since: 1, last: null },
          { since: 1, last: 3 },
          { since: 4, last: 4 }
        ]
      )
    })
  )
})

describe("a failed read", () => {
  const address = { url: "https://www.shop.example/en" }
  const firstRead = { day: 1, set: address }
  const silent = stores("silent", firstRead, { day: 2, status: "failed" }, { day: 3, status: "partial" })
  const moving = stores("moving", firstRead, { day: 2, status: "partial", set: { url: "https://shop.example/ro" } })
  const back = stores("back", firstRead, { day: 2 })
  itLive("keeps the URL that the store stated, as does a partial read without one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* silent.rows("url", "store"), [address])
      assert.deepStrictEqual(yield* moving.rows("url", "store"), [{ url: "https://shop.example/ro" }])
      assert.deepStrictEqual(yield* back.rows("url", "store"), [{ url: "https://back.example.com" }])
    })
  )
  const facts = { description: "Since 1998", country: "MD", currency: "MDL", reported_product_count: 62 }
  // the store list has a different currency than the existing rows
  const blocked = { status: "failed", outcome: "blocked", set: { currency: "USD" } } as const
  const failing = stores(
    "failing",
    { day: 1, set: facts, products: [bread], collections: [{ id: "fresh" }] },
    { day: 2, ...blocked },
    { day: 3, ...blocked }
  )
  itLive("changes no row, however often it fails, and is recorded each time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* failing.sightings, [
        ["bread", 1, 1, true],
        ["fresh", 1, 1, true]
      ])
      assert.deepStrictEqual(yield* failing.history, [[1, "bread.1", "first_seen", 4.5]])
      assert.deepStrictEqual(yield* failing.listed, ["bread"])
      assert.deepStrictEqual(yield* failing.rows(`${Object.keys(facts).join(", ")}, first_seen_at, run_id`, "store"), [
        { ...facts, first_seen_at: timeOfDay(1), run_id: "run-1" }
      ])
      const status = "fetched_at, read_at, fetch_status, outcome"
      assert.deepStrictEqual(yield* failing.rows(status, "store_status"), [
        { fetched_at: timeOfDay(1), read_at: timeOfDay(3), fetch_status: "failed", outcome: "blocked" }
      ])
      assert.deepStrictEqual(
        yield* failing.rows("fetch_status", "ingest.store_read", "read_at"),
        ["complete", "failed", "failed"].map((fetch_status) => ({ fetch_status }))
      )
    })
  )
})

describe("two runs at the same time", () => {
  /** Runs whose later reads are published first, and the run that is published last. */
  const publishedInReverse = oncePerFile(
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishReads(
        layout,
        { day: 5, products: [bread, tea] },
        { day: 2, store: "failing", status: "failed" },
        { day: 1, store: "failing-twice", products: [{ id: "milk" }] }
      )
      yield* publishReads(
        layout,
        { day: 3, store: "failing-twice", status: "failed" },
        { day: 1, store: "failing", products: [{ id: "cheese" }] }
      )
      const { run } = yield* publishReads(
        layout,
        { day: 4, products: [cake] },
        { day: 4, store: "other", products: [{ id: "juice" }] },
        { day: 2, store: "failing-twice", status: "failed" }
      )
      return { layout, run }
    })
  )
  itLive("result in the later read, regardless of the order of publication", () =>
    Effect.gen(function* () {
      const { layout, run } = yield* publishedInReverse
      assert.deepStrictEqual([run.rows_loaded, run.rows_unchanged], [1, 1])
      assert.deepStrictEqual(yield* listed(layout, "shop"), ["bread", "tea"])
      assert.deepStrictEqual(yield* listed(layout, "other"), ["juice"])
      assert.deepStrictEqual(yield* sightings(layout, "shop"), [
        ["bread", 5, 5, true],
        ["tea", 5, 5, true]
      ])
      const reads =
        "select run_id, store_id, is_taken from ingest.store_read where store_id in ('shop', 'other') order by all"
      assert.deepStrictEqual(yield* queryWarehouse(layout, reads), [
        { run_id: "run-4", store_id: "other", is_taken: true },
        { run_id: "run-4", store_id: "shop", is_taken: false },
        { run_id: "run-5", store_id: "shop", is_taken: true }
      ])
    })
  )
  itLive("keep the earlier read if the later one failed", () =>
    Effect.gen(function* () {
      const { layout } = yield* publishedInReverse
      assert.deepStrictEqual(yield* listed(layout, "failing"), ["cheese"])
      const times = "select fetched_at, read_at from storefront.store_status where store_id = 'failing-twice'"
      assert.deepStrictEqual(yield* queryWarehouse(layout, times), [
        { fetched_at: timeOfDay(1), read_at: timeOfDay(3) }
      ])
    })
  )
  itLive("do not use the time of a complete read that was outdated when it was published", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const pricier = { id: "bread", variants: [{ variant_id: "bread.1", price: 5 }] }
      yield* publishReads(layout, { day: 1, products: [bread, cake] })
      yield* publishReads(layout, { day: 5, status: "partial", products: [pricier] })
      yield* publishReads(layout, { day: 4, products: [bread] })
      assert.deepStrictEqual(yield* sightings(layout), [
        ["bread", 1, 5, true],
        ["cake", 1, 1, true]
      ])
    })
  )
  itLive("remove what the later read withdraws, even if the earlier one is published later", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* Effect.all([publishReads(layout, { day: 1, products: [bread] }), publishReads(layout, { day: 2 })], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(yield* listed(layout), [])
    })
  )
})
