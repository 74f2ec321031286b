import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aLayout, apples, publishRows, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { listed, publishReads, shareStores, sightings, timeOfDay } from "@larder/test/support/warehouse/store-reads.ts"
import { Effect } from "effect"

const stores = shareStores()
const bread = { id: "bread", variants: [{ variant_id: "bread.1", price: 4.5 }] }
const cake = { id: "cake" }
const tea = { id: "tea" }

describe("a store that is read twice, with another data set in the warehouse", () => {
  const found = { products: [bread, cake], collections: [{ id: "fresh", set: { product_ids: ["bread"] } }] }
  const readTwice = oncePerFile(
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const first = yield* publishReads(layout, { day: 1, ...found })
      const afterFirst = { listed: yield* listed(layout), sightings: yield* sightings(layout) }
      const second = yield* publishReads(layout, { day: 2, ...found })
      return { layout, first, afterFirst, second }
    })
  )
  itLive("lists what the first read found, with its time, and begins the history of every variant", () =>
    Effect.gen(function* () {
      const { afterFirst, first } = yield* readTwice
      assert.deepStrictEqual([first.run.outcome, first.run.rows_loaded, first.run.rows_unchanged], ["published", 3, 0])
      assert.deepStrictEqual(afterFirst, {
        listed: ["bread", "cake"],
        sightings: [
          ["bread", 1, 1, true],
          ["cake", 1, 1, true],
          ["fresh", 1, 1, true]
        ]
      })
    })
  )
  itLive("records a read that finds nothing new, and updates last-seen times, but changes no row", () =>
    Effect.gen(function* () {
      const { layout, second } = yield* readTwice
      const { outcome, rows_loaded, rows_unchanged } = second.run
      assert.deepStrictEqual([outcome, rows_loaded, rows_unchanged], ["unchanged", 0, 3])
      const first = { change: "first_seen", seen_at: timeOfDay(1), store_id: "shop" }
      const state = { compare_at_price: null, currency: "USD", available: true }
      assert.deepStrictEqual(yield* queryWarehouse(layout, "from storefront.variant_change order by variant_id"), [
        { variant_id: "bread.1", product_id: "bread", ...first, price: "4.5000", ...state },
        { variant_id: "cake.1", product_id: "cake", ...first, price: "2.5000", ...state }
      ])
      assert.deepStrictEqual(yield* sightings(layout), [
        ["bread", 1, 2, true],
        ["cake", 1, 2, true],
        ["fresh", 1, 2, true]
      ])
      const unchanged = "select run_id, day(fetched_at)::integer as fetched"
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          `${unchanged} from storefront.product union ${unchanged} from storefront.collection`
        ),
        [{ run_id: "run-1", fetched: 1 }]
      )
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select first_seen_at, run_id from storefront.store"), [
        { first_seen_at: timeOfDay(1), run_id: "run-1" }
      ])
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select fetched_at, read_at, run_id from storefront.store_status"),
        [{ fetched_at: timeOfDay(2), read_at: timeOfDay(2), run_id: "run-2" }]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select run_id, read_at from ingest.store_read order by all"),
        [
          { run_id: "run-1", read_at: timeOfDay(1) },
          { run_id: "run-2", read_at: timeOfDay(2) }
        ]
      )
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
    })
  )
})

describe("a store whose first reads fail", () => {
  const failures = [
    { day: 1, status: "failed", set: { country: "RO", currency: "RON" } },
    { day: 2, status: "failed", set: { country: "MD", currency: "MDL" } }
  ] as const
  const failed = stores("failed", failures[0])
  const failedTwice = stores("failed-twice", ...failures)
  const succeeding = stores("succeeding", ...failures, { day: 3, products: [bread] })
  itLive("has no rows and no read time until a read succeeds", () =>
    Effect.gen(function* () {
      const store = "day(first_seen_at)::integer as first, day(fetched_at)::integer as fetched, country, currency"
      const storesWithStatus = "(from storefront.store join storefront.store_status using (store_id))"
      assert.deepStrictEqual(yield* failed.rows(store, storesWithStatus), [
        { first: 1, fetched: null, country: "RO", currency: "RON" }
      ])
      // No price was read in the old currency, so the new currency of the store list is used.
      assert.deepStrictEqual(yield* failedTwice.rows(store, storesWithStatus), [
        { first: 1, fetched: null, country: "MD", currency: "MDL" }
      ])
      assert.deepStrictEqual(yield* failedTwice.listed, [])
      assert.deepStrictEqual(yield* succeeding.rows(store, storesWithStatus), [
        { first: 1, fetched: 3, country: null, currency: null }
      ])
      assert.deepStrictEqual(yield* succeeding.sightings, [["bread", 3, 3, true]])
    })
  )
})

describe("a product with a new value", () => {
  const reads = [
    { day: 1, products: [{ id: "tea", set: { vendor: "Leaf", body_text: "Green" } }] },
    { day: 2, products: [{ id: "tea", set: { product_type: "Leaf", body_text: "Green" } }] }
  ]
  const moved = stores("moved", ...reads)
  const emptied = stores("emptied", ...reads, { day: 3, products: [{ id: "tea", set: { product_type: "Leaf" } }] })
  itLive("gets a new row, even if a value only moved to another column or a string became null", () =>
    Effect.gen(function* () {
      const row = "vendor, product_type, body_text, run_id"
      assert.deepStrictEqual(yield* moved.rows(row, "product"), [
        { vendor: null, product_type: "Leaf", body_text: "Green", run_id: "run-2" }
      ])
      assert.deepStrictEqual(yield* emptied.rows(row, "product"), [
        { vendor: null, product_type: "Leaf", body_text: null, run_id: "run-3" }
      ])
      assert.deepStrictEqual(yield* emptied.history, [[1, "tea.1", "first_seen", 2.5]])
    })
  )
})

describe("a complete read", () => {
  const remaining = { products: [cake], collections: [{ id: "sweet", set: { product_ids: ["cake"] } }] }
  const withdrawing = stores(
    "withdrawing",
    {
      day: 1,
      products: [bread, cake],
      collections: [{ id: "fresh" }, { id: "sweet", set: { product_ids: ["bread", "cake"] } }]
    },
    { day: 2, ...remaining },
    { day: 3, ...remaining }
  )
  itLive("withdraws products and collections that it did not find, only once, and keeps their rows", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withdrawing.sightings, [
        ["bread", 1, 1, false],
        ["cake", 1, 3, true],
        ["fresh", 1, 1, false],
        ["sweet", 1, 3, true]
      ])
      assert.deepStrictEqual(yield* withdrawing.listed, ["cake"])
      assert.deepStrictEqual(yield* withdrawing.rows("collection_id, product_count", "collection_listing"), [
        { collection_id: "withdrawing/sweet", product_count: 1 }
      ])
      assert.deepStrictEqual(yield* withdrawing.rows("product_id", "product"), [
        { product_id: "withdrawing/bread" },
        { product_id: "withdrawing/cake" }
      ])
      assert.deepStrictEqual(
        (yield* withdrawing.history).filter(([day]) => day !== 1),
        [[2, "bread.1", "gone", null]]
      )
    })
  )
  const rye = { id: "bread", variants: [...bread.variants, { variant_id: "bread.2", price: 5 }] }
  const returning = stores(
    "returning",
    { day: 1, products: [bread, tea] },
    { day: 2, products: [tea] },
    { day: 3, products: [rye, tea] },
    { day: 4, products: [rye, tea] }
  )
  itLive("lists what it finds again, with the original first-seen time", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* returning.sightings, [
        ["bread", 1, 4, true],
        ["tea", 1, 4, true]
      ])
      assert.deepStrictEqual(yield* returning.listed, ["bread", "tea"])
      assert.deepStrictEqual(
        (yield* returning.history).filter(([day]) => day !== 1),
        [
          [2, "bread.1", "gone", null],
          [3, "bread.1", "back", 4.5],
          [3, "bread.2", "first_seen", 5]
        ]
      )
    })
  )
  const same = stores(
    "same",
    { day: 1, products: [bread, tea] },
    { day: 2, products: [tea] },
    { day: 3, products: [bread, tea] }
  )
  itLive("records that a product is listed again unchanged, without writing its row again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* same.rows("product_id, run_id", "product"), [
        { product_id: "same/bread", run_id: "run-1" },
        { product_id: "same/tea", run_id: "run-1" }
      ])
      assert.deepStrictEqual((yield* same.history).at(-1), [3, "bread.1", "back", 4.5])
      assert.deepStrictEqual(yield* same.listed, ["bread", "tea"])
    })
  )
  const closing = stores("closing", { day: 1, products: [bread] }, { day: 2 })
  itLive("withdraws everything if the store lists nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* closing.sightings, [["bread", 1, 1, false]])
      assert.deepStrictEqual(yield* closing.listed, [])
    })
  )
  const forgotten = stores("forgotten", { day: 1, products: [tea] })
  itLive("does not change other stores, even if they are no longer read", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* forgotten.listed, ["tea"])
      assert.deepStrictEqual(yield* forgotten.rows("day(read_at)::integer as day", "store_status"), [{ day: 1 }])
    })
  )
})

describe("the history of a variant", () => {
  const reduced = { price: 3, compare_at_price: 4 }
  const states = {
    reduced: [{ price: 4 }, reduced, { price: 4 }],
    "sold-out": [reduced, { ...reduced, available: false }],
    renamed: [reduced, { ...reduced, sku: "B-1", title: "Large" }], // none of the four recorded values differs
    "in-euros": [reduced, { ...reduced, sku: "B-1" }, { ...reduced, currency: "EUR" }],
    unpriced: [reduced, { price: null }, { price: 4 }]
  }
  const pricing = stores(
    "pricing",
    ...[0, 1, 2].map((read) => {
      const variants = Object.entries(states).map(([variant_id, found]) => ({
        variant_id,
        ...(found[read] ?? found.at(-1))
      }))
      return { day: read + 1, products: [{ id: "bread", variants }, tea] }
    })
  )
  itLive("has a row for each read that found a different price, compare-at price, currency or availability", () =>
    Effect.gen(function* () {
      const state = "day(seen_at)::integer as day, change, price, compare_at_price as was, currency, available"
      const rows = yield* pricing.rows(`variant_id, ${state}`, "variant_change", "seen_at")
      const findRows = (variant: string) =>
        rows.flatMap(({ variant_id, ...row }) => (variant_id === `pricing/${variant}` ? [row] : []))
      const full = { price: "4.0000", was: null, currency: "USD", available: true }
      const discounted = { price: "3.0000", was: "4.0000", currency: "USD", available: true }
      const firstSeen = { day: 1, change: "first_seen" }
      const changed = (day: number) => ({ day, change: "changed" })
      assert.deepStrictEqual(findRows("reduced"), [
        { ...firstSeen, ...full },
        { ...changed(2), ...discounted },
        { ...changed(3), ...full }
      ])
      assert.deepStrictEqual(findRows("sold-out"), [
        { ...firstSeen, ...discounted },
        { ...changed(2), ...discounted, available: false }
      ])
      assert.deepStrictEqual(findRows("renamed"), [{ ...firstSeen, ...discounted }])
      assert.deepStrictEqual(findRows("in-euros"), [
        { ...firstSeen, ...discounted },
        { ...changed(3), ...discounted, currency: "EUR" }
      ])
      assert.deepStrictEqual(findRows("unpriced"), [
        { ...firstSeen, ...discounted },
        { ...changed(2), price: null, was: null, currency: "USD", available: true },
        { ...changed(3), ...full }
      ])
    })
  )
  const withVariants = (...ids: ReadonlyArray<number>) => [
    { id: "bread", variants: ids.map((n) => ({ variant_id: `bread.${n}`, price: n })) }
  ]
  const leaving = stores(
    "leaving",
    { day: 1, products: withVariants(1, 2) },
    { day: 2, products: withVariants(2, 3) },
    { day: 3, products: withVariants() },
    { day: 4, products: withVariants(3, 1) }
  )
  itLive("has a row when the variant disappears from its product, and when it returns", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* leaving.history, [
        [1, "bread.1", "first_seen", 1],
        [1, "bread.2", "first_seen", 2],
        [2, "bread.1", "gone", null],
        [2, "bread.3", "first_seen", 3],
        [3, "bread.2", "gone", null],
        [3, "bread.3", "gone", null],
        [4, "bread.1", "back", 1],
        [4, "bread.3", "back", 3]
      ])
    })
  )
})

describe("a variant without price and availability in its feed", () => {
  const withoutState = {
    id: "bread",
    variants: [{ variant_id: "bread.1", price: null, currency: null, available: null }]
  }
  const reading = stores(
    "reading",
    { day: 1, products: [withoutState] },
    { day: 2, products: [withoutState] },
    { day: 3, products: [tea] },
    { day: 4, products: [withoutState, tea] }
  )
  itLive("has a history of when it was first seen, disappeared and returned", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        (yield* reading.history).filter(([, variant]) => variant === "bread.1"),
        [
          [1, "bread.1", "first_seen", null],
          [3, "bread.1", "gone", null],
          [4, "bread.1", "back", null]
        ]
      )
    })
  )
})
