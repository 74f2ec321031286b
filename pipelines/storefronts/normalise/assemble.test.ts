import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { DuckDb, storefront } from "@larder/warehouse"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { define } from "../../../warehouse/tables/dictionary.ts"
import { stagedIngestTables } from "../../../warehouse/tables/ingest-tables.ts"
import { readShopifyCsv } from "../decode/csv/shopify-csv.ts"
import { stageRows } from "../stage/stage-rows.ts"
import { assembleProducts, separateRows } from "./assemble.ts"
import { findPageEnds } from "./categorise.ts"

const from = { domain: "shop.example", fetched_at: "2026-03-02T10:00:00.000Z", raw_sha256: "0".repeat(64) }

async function* bytesOf(text: string) {
  yield Buffer.from(text)
}

/** Stages and assembles a file of one store, in parts of `maxBytes`. */
const stageAndAssemble = Effect.fnUntraced(function* (
  rows: ReadonlyArray<string>,
  maxBytes?: number,
  status = "complete"
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" })
  const db = yield* DuckDb.memory
  yield* define(db, { tables: [...stagedIngestTables, ...storefront.tables], views: storefront.views })
  const { add, finishLoading, surveys } = yield* stageRows(db, folder)
  const text = [
    "Handle,Title,Body (HTML),Tags,Option1 Value,Variant Price,Image Src,Variant Requires Shipping,Variant SKU",
    ...rows,
    ""
  ].join("\n")
  const batches = Stream.fromAsyncIterable(
    readShopifyCsv(() => bytesOf(text), { currency: null }),
    String
  )
  yield* Stream.runForEach(batches, (batch) => add(batch, from))
  yield* finishLoading
  yield* db.run(`insert into feed.store values ('${from.domain}', 'EUR', true)`)
  yield* db.run(`
    insert into storefront.store by name
      select id_of('store', '${from.domain}', '') as store_id, '${from.domain}' as domain, 'Shop' as name, 'shopify-csv' as kind,
        '' as url, now() as first_seen_at, 'run-1' as run_id;
    insert into ingest.store_read by name
      select 'run-1' as run_id, store_id, now() as read_at, '${status}' as fetch_status, '${status}' as outcome, 1 as pages_read,
        1 as products_read, false as has_all_products, true as is_taken, 0 as collections_read, 1 as seconds,
        'store/${from.domain}' as feed
      from storefront.store`)
  yield* separateRows(db, "run-1")
  const counts = yield* assembleProducts(db, folder, surveys, maxBytes)
  return { db, counts }
})

const Part = Schema.Struct({ part: Schema.Int, products: Schema.Int, bytes: Schema.Int, largest: Schema.Int })
const parts = `
  select part, count(*)::integer as products, sum(bytes)::integer as bytes, max(bytes)::integer as largest
  from feed.part group by part order by part`

const products = Array.from({ length: 30 }, (_, n) => n)
const rows = [
  ...products.map((n) => `p${n},Product ${n},${"words ".repeat(n * 20)},fruit,S,${n}.00,https://cdn.example/${n}.jpg`),
  // far from the first row of their products, and in a different order
  ...products.toReversed().map((n) => `p${n},,,,M,${n}.50,https://cdn.example/${n}-m.jpg`),
  "p3,,,,S,9.00,"
]

describe("assembling products", () => {
  itLive("assembles the same products in parts of limited size as all at once", () =>
    Effect.gen(function* () {
      const [whole, divided] = [yield* stageAndAssemble(rows), yield* stageAndAssemble(rows, 8000)]
      const found = yield* divided.db.all(Part, parts)
      assert.isAbove(found.length, 5)
      assert.strictEqual(
        found.reduce((sum, part) => sum + part.products, 0),
        products.length
      )
      for (const { bytes, largest } of found) assert.isAtMost(bytes, 8000 + largest)
      const query = "from storefront.product order by product_id"
      assert.deepStrictEqual(yield* divided.db.rows(query), yield* whole.db.rows(query))
      assert.deepStrictEqual(divided.counts, whole.counts)
      assert.deepStrictEqual(divided.counts, { rows_rejected: 1, rows_skipped: 0 })
    })
  )

  itLive("reads a price of 0 as none if another variant of the product has a price", () =>
    Effect.gen(function* () {
      const Priced = Schema.Struct({ native_id: Schema.String, prices: Schema.String })
      const { db } = yield* stageAndAssemble([
        "mug,Mug,,,S,0.00,",
        "mug,,,,M,9.90,",
        "gift,Gift,,,S,0.00,",
        "gift,,,,M,0,"
      ])
      const prices = "to_json(list_transform(variants, lambda variant: variant.price::double))::varchar"
      assert.deepStrictEqual(
        yield* db.all(Priced, `select native_id, ${prices} as prices from storefront.product order by native_id`),
        [
          { native_id: "gift", prices: "[0.0,0.0]" },
          { native_id: "mug", prices: "[null,9.9]" }
        ]
      )
    })
  )

  itLive(
    "leaves out the pictures of a row that is rejected as a duplicate, and keeps those of rows without a variant",
    () =>
      Effect.gen(function* () {
        const { counts, db } = yield* stageAndAssemble([
          "mug,Mug,,,S,1.00,https://x.example/mug.jpg,",
          "mug,Garden chair,,,S,50.00,https://x.example/chair.jpg,",
          "mug,,,,,,https://x.example/mug-2.jpg,",
          "mug,,,,M,2.00,https://x.example/mug-m.jpg,"
        ])
        const Picture = Schema.Struct({ src: Schema.String })
        assert.deepStrictEqual(
          yield* db.all(Picture, "select unnest(images).src as src from storefront.product"),
          ["mug", "mug-2", "mug-m"].map((name) => ({ src: `https://x.example/${name}.jpg` }))
        )
        assert.strictEqual(counts.rows_rejected, 1)
      })
  )

  itLive("distinguishes variants with the same options by their SKUs as they were sent", () =>
    Effect.gen(function* () {
      const Variant = Schema.Struct({ native_id: Schema.String, sku: Schema.String })
      const { db } = yield* stageAndAssemble(["mug,Mug,,,S,1.00,,,A&amp;B", "mug,,,,S,2.00,,,A-C"])
      assert.deepStrictEqual(yield* db.all(Variant, "select native_id, sku from storefront.variant order by sku"), [
        { native_id: "mug/S\\#A&amp;B", sku: "A&B" },
        { native_id: "mug/S\\#A-C", sku: "A-C" }
      ])
    })
  )

  itLive("counts a product as merchandise unless none of its variants is shipped", () =>
    Effect.gen(function* () {
      const Product = Schema.Struct({ native_id: Schema.String, is_merchandise: Schema.Boolean })
      const book = ["book,Book,,,S,1.00,,false", "book,,,,M,1.00,,true"]
      const pattern = ["pattern,Pattern,,,S,1.00,,false", "pattern,,,,M,1.00,,false"]
      const { db } = yield* stageAndAssemble([...book, ...pattern, "vase,Vase,,,S,1.00,,"])
      assert.deepStrictEqual(
        yield* db.all(Product, "select native_id, is_merchandise from storefront.product order by native_id"),
        [
          { native_id: "book", is_merchandise: true },
          { native_id: "pattern", is_merchandise: false },
          { native_id: "vase", is_merchandise: true }
        ]
      )
    })
  )

  itLive("finds categories in pages of a limited number of bytes", () =>
    Effect.gen(function* () {
      const title = "Chocolate bar ".repeat(60)
      const { db } = yield* stageAndAssemble(products.map((n) => `p${n},${n} ${title},,,,1.00,`))
      // 500 characters of the title, and 500 bytes for everything else: just over 1 kB for each product
      assert.strictEqual((yield* findPageEnds(db, 2100)).length, 14)
      assert.strictEqual((yield* findPageEnds(db)).length, 1)
    })
  )

  itLive("marks all products of a file that was not read to its end as possibly incomplete", () =>
    Effect.gen(function* () {
      const Incomplete = Schema.Struct({ product_id: Schema.String })
      const findIncomplete = (status?: "partial") =>
        Effect.flatMap(stageAndAssemble(["a,A,,,S,1.00,", "b,B,,,S,1.00,"], undefined, status), ({ db }) =>
          db.all(Incomplete, "from possibly_incomplete_product")
        )
      assert.lengthOf(yield* findIncomplete(), 0)
      assert.lengthOf(yield* findIncomplete("partial"), 2)
    })
  )

  itLive("truncates texts that are too long, and reports their number once per store", () =>
    Effect.gen(function* () {
      const first = `a,${"A".repeat(5000)},,,,1.00,`
      const { db } = yield* stageAndAssemble([first, `b,B,,${"t".repeat(300)},${"o".repeat(2000)},1.00,`])
      const single = yield* stageAndAssemble([first])
      const Reject = Schema.Struct({ feed: Schema.String, reason: Schema.String, payload: Schema.String })
      assert.deepStrictEqual(yield* db.all(Reject, "select feed, reason, payload from ingest.reject"), [
        {
          feed: "store/shop.example",
          reason: "4 texts were too long and were truncated; the first: title of a, with 5000 characters",
          payload: JSON.stringify({ title: "A".repeat(1000) })
        }
      ])
      const reasons = yield* single.db.rows("select reason from ingest.reject")
      assert.deepStrictEqual(reasons, [
        { reason: "1 text was too long and was truncated: title of a, with 5000 characters" }
      ])
    })
  )
})
