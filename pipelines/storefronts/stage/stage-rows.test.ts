import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect, FileSystem, Schema } from "effect"
import { type Batch, type FeedImage, type FeedProduct, makeBatch } from "../decode/feed.ts"
import { readCollections, readShopifyProducts } from "../decode/json/shopify-json.ts"
import { stageRows } from "./stage-rows.ts"

const from = { domain: "shop.example", fetched_at: "2026-03-02T10:00:00.000Z", raw_sha256: "0".repeat(64) }

const aProduct: FeedProduct = {
  native_id: "1",
  title: "Quince jelly",
  handle: null,
  vendor: null,
  product_type: null,
  stated_category: null,
  tags: [],
  body_text: null,
  published_at: null,
  created_at: null,
  is_published: true
}
const batchOf = (rows: Partial<Batch>): Batch => ({ ...makeBatch(), ...rows })

/** Three of them fill the buffer. */
const longImages = (count: number) =>
  Array.from(
    { length: count },
    (_, index): FeedImage => ({
      product_native_id: "1",
      position: index + 1,
      src: "x".repeat(12 << 20),
      width: null,
      height: null
    })
  )

const stagingOf = Effect.fnUntraced(function* (maxCharacters?: number) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" })
  const db = yield* DuckDb.memory
  return { db, ...(yield* stageRows(db, folder, maxCharacters)) }
})
const staging = stagingOf()

/** What a query finds when all batches are staged. */
const stagedFrom = Effect.fnUntraced(function* <A>(
  batches: ReadonlyArray<Batch>,
  row: Schema.ConstraintDecoder<A>,
  sql: string
) {
  const { add, db, finishLoading } = yield* staging
  for (const batch of batches) yield* add(batch, from)
  yield* finishLoading
  return yield* db.all(row, sql)
})

const Texts = Schema.Struct({ title: Schema.String, tags: Schema.Array(Schema.String) })
const Count = Schema.Struct({ count: Schema.Int })
const Position = Schema.Struct({ position: Schema.Int })

const Threads = Schema.Struct({ threads: Schema.Int })
const selectThreads = "select current_setting('threads')::integer as threads"

describe("staging rows", () => {
  itLive("uses one thread of DuckDB, and after that as many as before", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run("set threads = 3")
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" })
      const during = Effect.andThen(stageRows(db, folder), db.all(Threads, selectThreads))
      assert.deepStrictEqual(yield* Effect.scoped(during), [{ threads: 1 }])
      assert.deepStrictEqual(yield* db.all(Threads, selectThreads), [{ threads: 3 }])
    })
  )

  itLive("replaces half of a surrogate pair in a text by U+FFFD", () =>
    Effect.gen(function* () {
      const written = "a \\ud800 that is written out"
      const products = [
        { ...aProduct, title: "cut \ud83d", tags: ["\udc00 off", written] },
        { ...aProduct, title: "whole \u{1f34b}", tags: [written, "nul \0", "\uffff"] }
      ]
      assert.deepStrictEqual(
        yield* stagedFrom([batchOf({ products })], Texts, "select title, tags from feed.product order by seq"),
        [
          { title: "cut \ufffd", tags: ["\ufffd off", written] },
          { title: "whole \u{1f34b}", tags: [written, "nul \0", "\uffff"] }
        ]
      )
    })
  )

  itLive("accepts all numbers and texts that a shop may put into its fields", () =>
    Effect.gen(function* () {
      const unusualValues = [
        ...["99999999999999.99999", "9999999999999.99999", "0.00004", "1e308", "-0", "Infinity", "NaN", "\ud800", "\0"],
        ...[1e308, 1e21, -1, 0.1, 2 ** 31, 2 ** 53, 2 ** 63, null, true, [], {}],
        ...[
          "0000-01-01T00:00:00Z",
          "0001-01-01T00:00:00+14:00",
          "9999-12-31T23:59:59.999Z",
          "9999-12-31T23:59:59-14:00"
        ]
      ]
      const image = { src: "https://cdn.example.com/a.jpg" }
      const changeProduct = (value: unknown) => [
        ...["handle", "body_html", "vendor", "product_type", "published_at", "created_at"].map((key) => ({
          [key]: value
        })),
        { tags: [value] },
        ...["position", "width", "height"].map((key) => ({ images: [{ ...image, [key]: value }] }))
      ]
      const variantFields =
        "title,sku,barcode,grams,available,option1,position,requires_shipping,price,compare_at_price".split(",")
      const changeVariant = (value: unknown) => [
        ...variantFields.map((key) => ({ [key]: value })),
        { featured_image: { src: value } }
      ]
      const changeCollection = (value: unknown) => [
        ...["handle", "description", "published_at", "updated_at"].map((key) => ({ [key]: value })),
        ...["width", "height"].map((key) => ({ image: { ...image, [key]: value } }))
      ]
      const variant = { id: 1, price: "1" }
      const products = unusualValues.flatMap((value) => [
        ...changeProduct(value).map((fields) => ({ title: "x", variants: [variant], images: [image], ...fields })),
        ...changeVariant(value).map((fields) => ({
          title: "x",
          variants: [{ ...variant, ...fields }],
          images: [image]
        }))
      ])
      const collections = unusualValues.flatMap(changeCollection).map((fields) => ({ title: "x", image, ...fields }))
      const batches = [
        readShopifyProducts(
          JSON.stringify({ products: products.map((fields, index) => ({ id: index + 1, ...fields })) })
        ).batch,
        readCollections(
          JSON.stringify({ collections: collections.map((fields, index) => ({ id: index + 1, ...fields })) })
        ).batch
      ]
      const tables = ["product", "variant", "image", "collection"]
      const sum = tables.map((table) => `(select count(*) from feed.${table})`).join(" + ")
      const [staged] = yield* stagedFrom(batches, Count, `select (${sum})::integer as count`)
      const used = batches.reduce((sum, batch) => sum + 3 * batch.products.length + batch.collections.length, 0)
      assert.isAbove(used, 500)
      assert.deepStrictEqual(staged, { count: used })
    })
  )

  itLive("loads a batch in pieces if it has more text than the buffer", () =>
    Effect.gen(function* () {
      const { add, db, finishLoading } = yield* staging
      const positions = db.all(Position, "select position::integer as position from feed.image order by seq")
      yield* add(batchOf({ images: longImages(7) }), from)
      const firstPositions = yield* positions
      assert.isAtLeast(firstPositions.length, 3) // the second piece began when the first one was loaded
      assert.isAtMost(firstPositions.length, 6)
      yield* finishLoading
      const expected = longImages(7).map(({ position }) => ({ position }))
      assert.deepStrictEqual(yield* positions, expected)
      assert.deepStrictEqual(firstPositions, expected.slice(0, firstPositions.length))
    })
  )

  itLive("fails for a store with more characters than allowed, and continues for other stores", () =>
    Effect.gen(function* () {
      const { add, db, finishLoading } = yield* stagingOf(1000)
      const products = [{ ...aProduct, body_text: "x".repeat(1000) }]
      yield* add(batchOf({ products }), from)
      const error = yield* Effect.flip(add(batchOf({ products }), from))
      assert.strictEqual(error.message, "its rows have more than 1,000 characters.")
      yield* add(batchOf({ products }), { ...from, domain: "other.example" })
      yield* finishLoading
      const Store = Schema.Struct({ domain: Schema.String })
      assert.deepStrictEqual(yield* db.all(Store, "select domain from feed.product order by seq"), [
        { domain: "shop.example" },
        { domain: "other.example" }
      ])
    })
  )

  itLive("fails the run when a piece cannot be loaded, although other rows were accepted after it", () =>
    Effect.gen(function* () {
      const { add, db, finishLoading } = yield* staging
      yield* db.run("drop table feed.image")
      yield* add(batchOf({ images: longImages(3) }), from)
      yield* add(batchOf({ products: [aProduct] }), from)
      assert.instanceOf(yield* Effect.flip(finishLoading), DuckDbError)
      assert.instanceOf(yield* Effect.flip(add(batchOf({ images: longImages(3) }), from)), DuckDbError)
    })
  )
})
