import { readFileSync } from "node:fs"
import { assert } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import { compareWithGolden } from "@larder/test/support/pipelines/golden.ts"
import { DuckDb, literal, storefront } from "@larder/warehouse"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { define } from "../../warehouse/tables/dictionary.ts"
import { stagedIngestTables } from "../../warehouse/tables/ingest-tables.ts"
import { readShopifyCsv } from "./decode/csv/shopify-csv.ts"
import type { Batch, ReadFile } from "./decode/feed.ts"
import { readGoogleMerchant } from "./decode/google/google-merchant.ts"
import { readCollections, readMembers, readShopifyProducts } from "./decode/json/shopify-json.ts"
import { readWooCommerceProducts } from "./decode/json/woocommerce.ts"
import type { FeedPage } from "./decode/page.ts"
import { feedKinds } from "./feed-kinds.ts"
import { mappingHash } from "./mapping-hash.ts"
import { mappingVersion } from "./mapping-version.ts"
import { assembleProducts, separateRows } from "./normalise/assemble.ts"
import type { ListedStore } from "./source/store-list.ts"
import { stageRows } from "./stage/stage-rows.ts"

const golden = new URL("./golden/", import.meta.url)
const payloadOf = (name: string) => readFileSync(new URL(`payloads/${name}`, golden))

interface Feed {
  readonly domain: string
  readonly kind: ListedStore["kind"]
  readonly batches: AsyncIterable<Batch>
}

const file = (domain: string, kind: ListedStore["kind"], decode: ReadFile, name: string): Feed => ({
  domain,
  kind,
  batches: decode(() => yieldAll(payloadOf(name)), { currency: "CHF", read_at: Date.parse("2026-03-02T10:00:00Z") })
})
const pages = (domain: string, kind: ListedStore["kind"], ...read: ReadonlyArray<FeedPage>): Feed => ({
  domain,
  kind,
  batches: yieldAll(...read.map(({ batch }) => batch))
})

const feeds: ReadonlyArray<Feed> = [
  pages(
    "shopify.example",
    "shopify",
    readShopifyProducts(payloadOf("shopify-products.json").toString()),
    readCollections(payloadOf("shopify-collections.json").toString()),
    readMembers(payloadOf("shopify-members.json").toString(), "9001", 0)
  ),
  pages("woocommerce.example", "woocommerce", readWooCommerceProducts(payloadOf("woocommerce.json").toString())),
  file("export.example", "shopify-csv", readShopifyCsv, "shopify-export.csv"),
  file("template.example", "shopify-csv", readShopifyCsv, "shopify-template.csv"),
  file("xml.example", "google-merchant", readGoogleMerchant, "google.xml"),
  file("tsv.example", "google-merchant", readGoogleMerchant, "google.tsv"),
  file("csv.example", "google-merchant", readGoogleMerchant, "google.csv")
]

const Json = Schema.Struct({ row: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)) })

/** Without the columns that describe the run. */
const columns = "* exclude (run_id, raw_sha256, fetched_at)"
const queries = {
  products: `select ${columns} from storefront.product order by product_id`,
  collections: `select ${columns} from storefront.collection order by collection_id`
}

/** The rows that all feeds become together, and the positions of the rejects of each feed. */
const rowsOf = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-golden-" })
  const db = yield* DuckDb.memory
  yield* define(db, { tables: [...stagedIngestTables, ...storefront.tables], views: storefront.views })
  const { add, finishLoading, surveys } = yield* stageRows(db, folder)
  /** The wording of a reason may change without another version. */
  const rejects: Record<string, Array<number>> = {}
  for (const { batches, domain, kind } of feeds) {
    const from = { domain, fetched_at: "2026-03-02T10:00:00.000Z", raw_sha256: domain }
    yield* Stream.runForEach(Stream.fromAsyncIterable(batches, String), (batch) => {
      rejects[domain] = [...(rejects[domain] ?? []), ...batch.rejects.map(({ position }) => position)]
      return add(batch, from)
    })
    yield* db.run(`insert into feed.store values (${literal(domain)}, 'EUR', ${feedKinds[kind].isFile})`)
  }
  yield* finishLoading
  yield* separateRows(db, "run-1")
  const counts = yield* assembleProducts(db, folder, surveys)
  const rows: Record<string, unknown> = { rejects, counts }
  for (const [name, query] of Object.entries(queries)) {
    const found = yield* db.all(Json, `select to_json(found)::varchar as row from (${query}) found`)
    rows[name] = found.map(({ row }) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))
  }
  return rows
})

itLive("maps feeds of every kind to the golden rows of this mapping version", () =>
  Effect.gen(function* () {
    assert.sameMembers([...new Set(feeds.map(({ kind }) => kind))], Object.keys(feedKinds))
    compareWithGolden(golden, mappingVersion, yield* rowsOf)
  })
)

itLive("the mapping hash is a SHA-256 digest", () => Effect.sync(() => assert.match(mappingHash, /^[0-9a-f]{64}$/)))
