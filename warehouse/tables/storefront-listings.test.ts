import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aLayout, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { publishReads } from "@larder/test/support/warehouse/store-reads.ts"
import { Effect } from "effect"

const publishedOn = (id: string, day: number) => ({ id, set: { published_at: `2025-06-${day} 08:00:00` } })

const unpublished = ["b", "a", "Z", "é", "_"].map((id) => ({ id }))
const picture = { src: "https://shop.example.com/a.jpg", width: 640, height: null }
const imageColumns = (image: typeof picture | null) => ({
  image_src: image?.src ?? null,
  image_width: image?.width ?? null,
  image_height: image?.height ?? null
})
const images = [picture, { ...picture, src: "https://shop.example.com/b.jpg" }]
const pictured = { id: "pictured", variants: [{ variant_id: "p.1", sku: "P-1" }, { variant_id: "p.2" }] }
const decision = { category: "home_and_garden", category_method: "title", category_confidence: 0.9 }
const collections = [
  { id: "none" },
  {
    id: "sweet",
    set: { product_ids: ["plain", "pictured", "plain", "x", "unknown"], published_at: "2025-06-01 08:00:00" }
  }
]

const published = oncePerFile(
  Effect.gen(function* () {
    const layout = yield* aLayout
    const found = [
      { ...pictured, set: { images, price_min: 2.5, ...decision, category_evidence: "vase" } },
      { id: "without", variants: [] }
    ]
    yield* publishReads(
      layout,
      { day: 1, products: [...unpublished, publishedOn("c", 11), publishedOn("d", 12), publishedOn("C", 11)] },
      { day: 1, store: "collecting", products: [...found, { id: "plain" }], collections },
      { day: 1, store: "other", products: [{ id: "x" }] }
    )
    yield* publishReads(layout, { day: 2, store: "collecting", products: found, collections })
    return layout
  })
)

describe("the listing of a store", () => {
  itLive("has the newest publication first, unpublished products last, and ids in byte order", () =>
    Effect.gen(function* () {
      const places = yield* queryWarehouse(
        yield* published,
        "select store_id, place, product_id from storefront.listing where store_id <> 'collecting'"
      )
      assert.deepStrictEqual(
        places.map(({ place, product_id, store_id }) => [store_id, place, product_id]),
        [["other", 1, "x"], ...["d", "C", "c", "Z", "_", "a", "b", "é"].map((id, index) => ["shop", index + 1, id])]
      )
    })
  )
  itLive("shows the first picture, and counts the variants", () =>
    Effect.gen(function* () {
      const columns = "product_id, image_src, image_width, image_height, price_min, variant_count"
      const listed = `select ${columns} from storefront.listing where store_id = 'collecting'`
      assert.deepStrictEqual(yield* queryWarehouse(yield* published, listed), [
        { product_id: "pictured", ...imageColumns(picture), price_min: "2.5000", variant_count: 2 },
        { product_id: "without", ...imageColumns(null), price_min: null, variant_count: 0 }
      ])
    })
  )
})

describe("the collections of a store", () => {
  itLive("are in the same order, and count each listed product of the store once", () =>
    Effect.gen(function* () {
      const listed = "select place, collection_id, product_count from storefront.collection_listing"
      assert.deepStrictEqual(yield* queryWarehouse(yield* published, listed), [
        { place: 1, collection_id: "sweet", product_count: 1 },
        { place: 2, collection_id: "none", product_count: 0 }
      ])
    })
  )
})

describe("the views of storefronts", () => {
  itLive("have a row for each variant, and for each product of a collection", () =>
    Effect.gen(function* () {
      const columns = "variant_id, product_id, sku, price, position"
      const variants = `select ${columns} from storefront.variant where product_id in ('pictured', 'without')`
      assert.deepStrictEqual(yield* queryWarehouse(yield* published, variants), [
        { variant_id: "p.1", product_id: "pictured", sku: "P-1", price: "2.5000", position: 1 },
        { variant_id: "p.2", product_id: "pictured", sku: null, price: "2.5000", position: 2 }
      ])
      assert.deepStrictEqual(
        yield* queryWarehouse(yield* published, "from storefront.collection_product"),
        ["plain", "pictured", "plain", "x", "unknown"].map((product_id, index) => ({
          collection_id: "sweet",
          product_id,
          position: index + 1
        }))
      )
    })
  )
  itLive("show how each category was decided", () =>
    Effect.gen(function* () {
      const category = "from storefront.product_category where product_id = 'pictured'"
      assert.deepStrictEqual(yield* queryWarehouse(yield* published, category), [
        {
          product_id: "pictured",
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
