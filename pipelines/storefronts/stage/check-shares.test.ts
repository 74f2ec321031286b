import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { DuckDb, literal, storefront } from "@larder/warehouse"
import { Effect, FileSystem, Stream } from "effect"
import { define } from "../../../warehouse/tables/dictionary.ts"
import { stagedIngestTables } from "../../../warehouse/tables/ingest-tables.ts"
import { readShopifyCsv } from "../decode/csv/shopify-csv.ts"
import type { Batch, ReadFile } from "../decode/feed.ts"
import { readGoogleMerchant } from "../decode/google/google-merchant.ts"
import { readCollections, readShopifyProducts } from "../decode/json/shopify-json.ts"
import { readWooCommerceProducts } from "../decode/json/woocommerce.ts"
import { feedKinds } from "../feed-kinds.ts"
import { separateRows } from "../normalise/assemble.ts"
import { makeStoreRead, type ReadStore } from "../source/crawl/store-read.ts"
import type { ListedStore } from "../source/store-list.ts"
import { checkShares } from "./check-shares.ts"
import { stageRows } from "./stage-rows.ts"

interface Feed {
  readonly kind: ListedStore["kind"]
  readonly batches: AsyncIterable<Batch>
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const file = (kind: ListedStore["kind"], decode: ReadFile, lines: ReadonlyArray<string>): Feed => ({
  kind,
  batches: decode(() => yieldAll(Buffer.from(`${lines.join("\n")}\n`)), { currency: "EUR" })
})

/** A feed of each kind, with 40 products. `price` is a valid one or not. */
const feedOf: Readonly<Record<ListedStore["kind"], (price: (id: number) => string) => Feed>> = {
  shopify: (price) => {
    const products = ids(40).map((id) => ({ id, title: `Jam ${id}`, variants: [{ id: id * 10, price: price(id) }] }))
    return { kind: "shopify", batches: yieldAll(readShopifyProducts(JSON.stringify({ products })).batch) }
  },
  woocommerce: (price) => {
    const amounts = { currency_code: "EUR", currency_minor_unit: 2 }
    const products = ids(40).map((id) => ({ id, name: `Oil ${id}`, prices: { ...amounts, price: price(id) } }))
    return { kind: "woocommerce", batches: yieldAll(readWooCommerceProducts(JSON.stringify(products)).batch) }
  },
  "shopify-csv": (price) =>
    file("shopify-csv", readShopifyCsv, [
      "Handle,Title,Option1 Value,Variant Price",
      ...ids(40).flatMap((id) => [`bread-${id},Bread ${id},S,2`, `bread-${id},,L,${price(id)}`])
    ]),
  "google-merchant": (price) =>
    file("google-merchant", readGoogleMerchant, [
      "id\ttitle\tprice",
      ...ids(40).map((id) => `${id}\tTea ${id}\t${price(id)}`)
    ])
}
const kinds = ["shopify", "woocommerce", "shopify-csv", "google-merchant"] as const

/** The read of a store with these rows, as it is after the check. */
const check = Effect.fnUntraced(function* ({ batches, kind }: Feed, before = makeStoreRead("complete", null)) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-shares-" })
  const db = yield* DuckDb.memory
  yield* define(db, { tables: [...stagedIngestTables, ...storefront.tables], views: storefront.views })
  const { add, finishLoading } = yield* stageRows(db, folder)
  const domain = "shop.example"
  const from = { domain, fetched_at: "2026-03-02T10:00:00.000Z", raw_sha256: "raw" }
  yield* Stream.runForEach(Stream.fromAsyncIterable(batches, String), (batch) =>
    Effect.gen(function* () {
      for (const { payload, position, reason } of batch.rejects) {
        const texts = [reason, payload].map(literal).join(", ")
        yield* db.run(
          `insert into ingest.reject values ('storefronts', 'store/${domain}', 'run-1', 'raw', ${position}, ${texts})`
        )
      }
      yield* add(batch, from)
    })
  )
  yield* finishLoading
  yield* db.run(`insert into feed.store values ('${domain}', 'EUR', ${feedKinds[kind].isFile})`)
  yield* separateRows(db, "run-1")
  const store: ListedStore = { domain, name: "Shop", kind, location: "https://shop.example" }
  const counts = { rows_read: 40, rows_rejected: 0, seconds: 1, odd_values: [] }
  const item: ReadStore = { store, read: before, read_at: from.fetched_at, ...counts }
  const staging = { file: "", db, add: () => Effect.die("nothing is added") }
  const layout = yield* aLayout
  const run = { run_id: "run-1", started_at: from.fetched_at, layout, staging, days: undefined, acceptShrinkage: false }
  const [{ read, is_known } = item] = yield* checkShares(run, [item])
  return [read.outcome, read.detail, read.has_all_products, is_known] as const
})

const firstIds = (count: number) => (id: number) => (id <= count ? "ask us" : "2")

describe("the rejected products of a store", () => {
  itLive("leave it in part if there are more than 2 %, and more than one: a feed of each kind", () =>
    Effect.gen(function* () {
      for (const kind of kinds) {
        assert.deepStrictEqual(yield* check(feedOf[kind](firstIds(1))), ["complete", null, true, undefined], kind)
        const [outcome, detail, has_all_products, is_known] = yield* check(feedOf[kind](firstIds(2)))
        assert.deepStrictEqual([outcome, has_all_products, is_known], ["rejected", true, false], kind)
        assert.include(detail, "2 of 40 products were rejected (5.0 %), most often because ", kind)
        assert.include(detail, '"ask us", which is not ', kind)
      }
    })
  )

  itLive("count once each, however many of their rows are rejected", () =>
    Effect.gen(function* () {
      const rows = ids(5).map((id) => `bread-1,,${id},ask us`)
      const feed = ["Handle,Title,Option1 Value,Variant Price", ...rows, ...ids(39).map((id) => `roll-${id},Roll,S,1`)]
      assert.deepStrictEqual((yield* check(file("shopify-csv", readShopifyCsv, feed)))[0], "complete")
    })
  )

  itLive("include repeated ids and products without a title, but no drafts", () =>
    Effect.gen(function* () {
      const feed = [
        "Handle,Title,Status,Option1 Value,Variant Price",
        ...ids(20).map((id) => `roll-${id},Roll,active,S,1`),
        "roll-1,,,S,3",
        "pie,,,S,1",
        "secret,Secret,draft,S,1",
        "secret,,,M,ask us",
        "hidden,Hidden,draft,S,ask us"
      ]
      const [outcome, detail] = yield* check(file("shopify-csv", readShopifyCsv, feed))
      assert.strictEqual(outcome, "rejected")
      assert.include(detail, "2 of 21 products were rejected (9.5 %)")
    })
  )

  itLive("are explained by the rejected row of their title, not by the title that is missing then", () =>
    Effect.gen(function* () {
      const torn = ids(3).flatMap((id) => [`pie-${id},Pie,S,bad`, `pie-${id},,M,1`])
      const feed = ["Handle,Title,Option1 Value,Variant Price", ...torn, ...ids(20).map((id) => `roll-${id},Roll,S,1`)]
      const [, detail] = yield* check(file("shopify-csv", readShopifyCsv, feed))
      assert.include(detail, '3 of 23 products were rejected (13.0 %), most often because its variant price is "bad"')
    })
  )

  itLive("prevent every withdrawal if a row does not tell which product it is", () =>
    Effect.gen(function* () {
      const feed = (unnamed: number) =>
        file("google-merchant", readGoogleMerchant, [
          "id\ttitle\tprice",
          ...ids(unnamed).map(() => "\tTea\t1"),
          ...ids(40).map((id) => `${id}\tTea ${id}\t1`)
        ])
      const [outcome, one, has_all_products] = yield* check(feed(1))
      assert.deepStrictEqual([outcome, has_all_products], ["unclear", false])
      assert.match(one ?? "", /\(there is 1 such row\)\.$/)
      const [, three] = yield* check(feed(3))
      assert.match(
        three ?? "",
        /\(there are 3 such rows; 3 of 43 products were rejected \(7\.0 %\), .* it has no id\)\.$/
      )
    })
  )

  itLive("are named after another reason for a partial read, which stays", () =>
    Effect.gen(function* () {
      const before = makeStoreRead("budget", "after 30 minutes")
      const [outcome, detail] = yield* check(feedOf["google-merchant"](firstIds(4)), before)
      assert.strictEqual(outcome, "budget")
      assert.match(
        detail ?? "",
        /^A time limit ended the read \(after 30 minutes\)\. 4 of 40 products were rejected \(10\.0 %\), /
      )
    })
  )

  itLive("do not include collections: one whose id is known stays listed", () =>
    Effect.gen(function* () {
      const page = (collections: ReadonlyArray<unknown>): Feed => ({
        kind: "shopify",
        batches: yieldAll(
          readShopifyProducts(JSON.stringify({ products: ids(3).map((id) => ({ id, title: "Jam", variants: [] })) }))
            .batch,
          readCollections(JSON.stringify({ collections })).batch
        )
      })
      assert.deepStrictEqual((yield* check(page([{ id: 8 }, { id: 9 }])))[0], "complete")
      const [outcome, , has_all_products] = yield* check(page([{ title: "No id" }]))
      assert.deepStrictEqual([outcome, has_all_products], ["unclear", true])
    })
  )
})
