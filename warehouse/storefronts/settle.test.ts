import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { publishLabels } from "@larder/test/support/warehouse/label-rows.ts"
import { aLayout, ask } from "@larder/test/support/warehouse/pantry.ts"
import {
  history,
  listed,
  momentOf,
  publishReads,
  sightings,
  storesOfFile
} from "@larder/test/support/warehouse/store-reads.ts"
import { Effect } from "effect"

const stores = storesOfFile()
const bread = { id: "bread", variants: [{ variant_id: "bread.1", price: 4.5 }] }
const cake = { id: "cake" }
const tea = { id: "tea" }

describe("the first read of a store", () => {
  itWorks("lists what it found, as first and last seen then, and begins the history of every variant", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const { run } = yield* publishReads(layout, { day: 1, products: [bread, cake], collections: [{ id: "fresh" }] })
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.rows_unchanged], ["published", 3, 0])
      assert.deepStrictEqual(yield* listed(layout), ["bread", "cake"])
      assert.deepStrictEqual(yield* sightings(layout), [
        ["bread", 1, 1, true],
        ["cake", 1, 1, true],
        ["fresh", 1, 1, true]
      ])
      assert.deepStrictEqual(yield* ask(layout, "from storefront.variant_change where product_id = 'bread'"), [
        {
          variant_id: "bread.1",
          product_id: "bread",
          store_id: "shop",
          seen_at: momentOf(1),
          change: "first_seen",
          price: "4.5000",
          compare_at_price: null,
          currency: "USD",
          available: true
        }
      ])
    })
  )
  itWorks("works beside another data set, too", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishLabels(layout, [{ fdc_id: 1 }])
      yield* publishReads(layout, { day: 1, products: [bread] })
      assert.deepStrictEqual(yield* sightings(layout), [["bread", 1, 1, true]])
      yield* publishReads(layout, { day: 2, products: [bread] })
      assert.deepStrictEqual(yield* sightings(layout), [["bread", 1, 2, true]])
      assert.deepStrictEqual(yield* ask(layout, "select fdc_id from branded_food.food"), [{ fdc_id: 1 }])
    })
  )
  itWorks("leaves a store without rows and time of reading when it fails, until one succeeds", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const store =
        "select day(first_seen_at)::integer as first, day(fetched_at)::integer as fetched, country, currency"
      const stores = () => ask(layout, `${store} from storefront.store`)
      yield* publishReads(layout, { day: 1, status: "failed", set: { country: "RO", currency: "RON" } })
      assert.deepStrictEqual(yield* stores(), [{ first: 1, fetched: null, country: "RO", currency: "RON" }])
      // Nothing was ever read in the old currency: what the operator says now counts.
      yield* publishReads(layout, { day: 2, status: "failed", set: { country: "MD", currency: "MDL" } })
      assert.deepStrictEqual(yield* stores(), [{ first: 1, fetched: null, country: "MD", currency: "MDL" }])
      assert.deepStrictEqual(yield* listed(layout), [])
      yield* publishReads(layout, { day: 3, products: [bread] })
      assert.deepStrictEqual(yield* stores(), [{ first: 1, fetched: 3, country: null, currency: null }])
      assert.deepStrictEqual(yield* sightings(layout), [["bread", 3, 3, true]])
    })
  )
})

describe("a read that finds everything as it was", () => {
  itWorks("records itself, moves the times of the store and of what it saw, and changes nothing else", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const found = { products: [bread, cake], collections: [{ id: "fresh", set: { product_ids: ["bread"] } }] }
      yield* publishReads(layout, { day: 1, ...found })
      const before = yield* history(layout)
      const { run } = yield* publishReads(layout, { day: 2, ...found })
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.rows_unchanged], ["published", 0, 3])
      assert.deepStrictEqual(yield* history(layout), before)
      assert.deepStrictEqual(yield* sightings(layout), [
        ["bread", 1, 2, true],
        ["cake", 1, 2, true],
        ["fresh", 1, 2, true]
      ])
      const unchanged = "select run_id, day(fetched_at)::integer as fetched"
      assert.deepStrictEqual(
        yield* ask(layout, `${unchanged} from storefront.product union ${unchanged} from storefront.collection`),
        [{ run_id: "run-1", fetched: 1 }]
      )
      assert.deepStrictEqual(
        yield* ask(layout, "select first_seen_at, fetched_at, read_at, run_id from storefront.store"),
        [{ first_seen_at: momentOf(1), fetched_at: momentOf(2), read_at: momentOf(2), run_id: "run-2" }]
      )
      assert.deepStrictEqual(yield* ask(layout, "select run_id, read_at from storefront.store_read order by all"), [
        { run_id: "run-1", read_at: momentOf(1) },
        { run_id: "run-2", read_at: momentOf(2) }
      ])
    })
  )
})

describe("a product that states something new", () => {
  itWorks("gets a new row, also when a value only moved to another column or a text became null", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const rows = () => ask(layout, "select vendor, product_type, body_text, run_id from storefront.product")
      yield* publishReads(layout, { day: 1, products: [{ id: "tea", set: { vendor: "Leaf", body_text: "Green" } }] })
      yield* publishReads(layout, {
        day: 2,
        products: [{ id: "tea", set: { product_type: "Leaf", body_text: "Green" } }]
      })
      assert.deepStrictEqual(yield* rows(), [
        { vendor: null, product_type: "Leaf", body_text: "Green", run_id: "run-2" }
      ])
      yield* publishReads(layout, { day: 3, products: [{ id: "tea", set: { product_type: "Leaf" } }] })
      assert.deepStrictEqual(yield* rows(), [{ vendor: null, product_type: "Leaf", body_text: null, run_id: "run-3" }])
      assert.deepStrictEqual(yield* history(layout), [[1, "tea.1", "first_seen", 2.5]])
    })
  )
})

describe("a complete read", () => {
  const left = { products: [cake], collections: [{ id: "sweet", set: { product_ids: ["cake"] } }] }
  const withdrawing = stores(
    "withdrawing",
    {
      day: 1,
      products: [bread, cake],
      collections: [{ id: "fresh" }, { id: "sweet", set: { product_ids: ["bread", "cake"] } }]
    },
    { day: 2, ...left },
    { day: 3, ...left }
  )
  itWorks("withdraws products and collections that it did not find, once, and keeps their rows", () =>
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
  itWorks("takes back what it finds again, with the day on which it was first seen", () =>
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
  itWorks("records that a product comes back as it was, without writing its row again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishReads(layout, { day: 1, products: [bread, tea] })
      yield* publishReads(layout, { day: 2, products: [tea] })
      const { run } = yield* publishReads(layout, { day: 3, products: [bread, tea] })
      assert.deepStrictEqual([run.rows_loaded, run.rows_unchanged], [0, 2])
      assert.deepStrictEqual((yield* history(layout)).at(-1), [3, "bread.1", "back", 4.5])
      assert.deepStrictEqual(yield* listed(layout), ["bread", "tea"])
    })
  )
  itWorks("withdraws everything when the store lists nothing", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishReads(layout, { day: 1, products: [bread] })
      const { run } = yield* publishReads(layout, { day: 2 })
      assert.strictEqual(run.outcome, "published")
      assert.deepStrictEqual(yield* sightings(layout), [["bread", 1, 1, false]])
      assert.deepStrictEqual(yield* listed(layout), [])
    })
  )
  itWorks("leaves other stores as they are, even if they are no longer read", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishReads(layout, { day: 1, products: [bread] }, { day: 1, store: "other", products: [tea] })
      yield* publishReads(layout, { day: 2 })
      yield* publishReads(layout, { day: 3 })
      assert.deepStrictEqual(yield* listed(layout), ["tea"])
      assert.deepStrictEqual(
        yield* ask(layout, "select store_id, day(read_at)::integer as day from storefront.store order by all"),
        [
          { store_id: "other", day: 1 },
          { store_id: "shop", day: 3 }
        ]
      )
    })
  )
})

describe("the history of a variant", () => {
  const states = [
    { price: 4 },
    { price: 3, compare_at_price: 4 },
    { price: 3, compare_at_price: 4, available: false },
    { price: 3, compare_at_price: 4, available: false, sku: "B-1", title: "Large" }, // nothing of the four
    { price: 3, compare_at_price: 4, currency: "EUR" },
    { price: null },
    { price: 4 }
  ]
  const pricing = stores(
    "pricing",
    ...states.map((state, index) => {
      const variants = [{ variant_id: "bread.1", ...state }, { variant_id: "bread.2" }]
      return { day: index + 1, products: [{ id: "bread", variants }, tea] }
    })
  )
  itWorks("has a row for each read that found another price, reduction, currency or availability", () =>
    Effect.gen(function* () {
      const state = "day(seen_at)::integer as day, change, price, compare_at_price as was, currency, available"
      assert.deepStrictEqual(
        (yield* pricing.rows(`variant_id, ${state}`, "variant_change", "seen_at")).flatMap(({ variant_id, ...row }) =>
          variant_id === "pricing/bread.1" ? [row] : []
        ),
        [
          { day: 1, change: "first_seen", price: "4.0000", was: null, currency: "USD", available: true },
          { day: 2, change: "changed", price: "3.0000", was: "4.0000", currency: "USD", available: true },
          { day: 3, change: "changed", price: "3.0000", was: "4.0000", currency: "USD", available: false },
          { day: 5, change: "changed", price: "3.0000", was: "4.0000", currency: "EUR", available: true },
          { day: 6, change: "changed", price: null, was: null, currency: "USD", available: true },
          { day: 7, change: "changed", price: "4.0000", was: null, currency: "USD", available: true }
        ]
      )
      assert.strictEqual((yield* pricing.history).filter(([, variant]) => variant !== "bread.1").length, 2)
    })
  )
  const of = (...ids: ReadonlyArray<number>) => [
    { id: "bread", variants: ids.map((n) => ({ variant_id: `bread.${n}`, price: n })) }
  ]
  const leaving = stores(
    "leaving",
    { day: 1, products: of(1, 2) },
    { day: 2, products: of(2, 3) },
    { day: 3, products: of() },
    { day: 4, products: of(3, 1) }
  )
  itWorks("has a row when the variant leaves its product, and when it is back", () =>
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
  const silent = { id: "bread", variants: [{ variant_id: "bread.1", price: null, currency: null, available: null }] }
  const telling = stores(
    "telling",
    { day: 1, products: [silent] },
    { day: 2, products: [silent] },
    { day: 3, products: [tea] },
    { day: 4, products: [silent, tea] }
  )
  itWorks("has a history of when it was first seen, gone and back", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        (yield* telling.history).filter(([, variant]) => variant === "bread.1"),
        [
          [1, "bread.1", "first_seen", null],
          [3, "bread.1", "gone", null],
          [4, "bread.1", "back", null]
        ]
      )
    })
  )
})
