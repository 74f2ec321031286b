import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { aLayout, ask } from "@larder/test/support/warehouse/pantry.ts"
import { publishReads } from "@larder/test/support/warehouse/store-reads.ts"
import { Effect } from "effect"

const published = (id: string, day: number) => ({ id, set: { published_at: `2025-06-${day} 08:00:00` } })

describe("the listing of a store", () => {
  itWorks("has the newest publication first, those without a time last, and ids in byte order", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const unpublished = ["b", "a", "Z", "é", "_"].map((id) => ({ id }))
      yield* publishReads(
        layout,
        { day: 1, products: [...unpublished, published("c", 11), published("d", 12), published("C", 11)] },
        { day: 1, store: "other", products: [{ id: "x" }] }
      )
      const places = yield* ask(layout, "select store_id, place, product_id from storefront.listing")
      assert.deepStrictEqual(
        places.map(({ place, product_id, store_id }) => [store_id, place, product_id]),
        [["other", 1, "x"], ...["d", "C", "c", "Z", "_", "a", "b", "é"].map((id, index) => ["shop", index + 1, id])]
      )
    })
  )
  itWorks("shows the first picture, and counts the variants", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const picture = { src: "https://shop.example.com/a.jpg", width: 640, height: null }
      const images = [picture, { ...picture, src: "https://shop.example.com/b.jpg" }]
      yield* publishReads(layout, {
        day: 1,
        products: [
          { id: "a", variants: [{ variant_id: "a.1" }, { variant_id: "a.2" }], set: { images, price_min: 2.5 } },
          { id: "b", variants: [] }
        ]
      })
      assert.deepStrictEqual(
        yield* ask(layout, "select product_id, image, price_min, variant_count from storefront.listing"),
        [
          { product_id: "a", image: picture, price_min: "2.5000", variant_count: 2 },
          { product_id: "b", image: null, price_min: null, variant_count: 0 }
        ]
      )
    })
  )
})

describe("the collections of a store", () => {
  itWorks("are in the same order, and count each listed product of the store once", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const collections = [
        { id: "none" },
        { id: "sweet", set: { product_ids: ["a", "b", "a", "x", "unknown"], published_at: "2025-06-01 08:00:00" } }
      ]
      yield* publishReads(
        layout,
        { day: 1, products: [{ id: "a" }, { id: "b" }, { id: "c" }], collections },
        { day: 1, store: "other", products: [{ id: "x" }] }
      )
      yield* publishReads(layout, { day: 2, products: [{ id: "a" }, { id: "c" }], collections })
      assert.deepStrictEqual(
        yield* ask(layout, "select place, collection_id, product_count from storefront.collection_listing"),
        [
          { place: 1, collection_id: "sweet", product_count: 1 },
          { place: 2, collection_id: "none", product_count: 0 }
        ]
      )
    })
  )
})

describe("the views of storefronts", () => {
  itWorks("have a row for each variant, and for each product of a collection", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const variants = [{ variant_id: "a.1", sku: "A-1" }, { variant_id: "a.2" }]
      yield* publishReads(layout, {
        day: 1,
        products: [
          { id: "a", variants },
          { id: "b", variants: [] }
        ],
        collections: [{ id: "sweet", set: { product_ids: ["b", "a"] } }, { id: "none" }]
      })
      assert.deepStrictEqual(
        yield* ask(layout, "select variant_id, product_id, sku, price, position from storefront.variant"),
        [
          { variant_id: "a.1", product_id: "a", sku: "A-1", price: "2.5000", position: 1 },
          { variant_id: "a.2", product_id: "a", sku: null, price: "2.5000", position: 2 }
        ]
      )
      assert.deepStrictEqual(yield* ask(layout, "from storefront.collection_product"), [
        { collection_id: "sweet", product_id: "b", position: 1 },
        { collection_id: "sweet", product_id: "a", position: 2 }
      ])
    })
  )
  itWorks("show how each category was decided", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const decided = { category: "home_and_garden", category_method: "title", category_confidence: 0.9 }
      yield* publishReads(layout, { day: 1, products: [{ id: "a", set: { ...decided, category_evidence: "vase" } }] })
      assert.deepStrictEqual(yield* ask(layout, "from storefront.product_category"), [
        {
          product_id: "a",
          category: "home_and_garden",
          sub_category: "uncategorized",
          method: "title",
          confidence: 0.9,
          evidence: "vase"
        }
      ])
    })
  )
})
