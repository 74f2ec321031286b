/**
 * Stages and publishes storefronts without feeds, for stores that no sample has. The functions `…Record` return the
 * expected API record of a row, independently of the code under test.
 */
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { identifier, layoutOf, literal, type Staging, stage, storefront } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { aRun, publishStaged } from "./warehouse/example-data-set.ts"

/** Time of the first read of all stores. Later reads have their own times. */
export const firstRead = "2026-10-01T13:04:36.000Z"

const store = {
  name: "Example Bakery",
  domain: "shop.example.com",
  kind: "shopify",
  url: "https://shop.example.com",
  description: null as string | null,
  country: null as string | null,
  currency: null as string | null,
  language: null as string | null,
  city: null as string | null,
  fetch_status: "complete" as "complete" | "partial" | "failed",
  outcome: "complete",
  first_seen_at: firstRead,
  fetched_at: firstRead as string | null
}
export type StoreRow = typeof store & { readonly store_id: string }
export const aStore = (stated: Partial<StoreRow> & Pick<StoreRow, "store_id">): StoreRow => ({ ...store, ...stated })

interface Image {
  readonly src: string
  readonly width: number | null
  readonly height: number | null
}

const variant = {
  native_id: "1",
  title: "Default Title",
  sku: null as string | null,
  barcode: null as string | null,
  price: null as string | null,
  compare_at_price: null as string | null,
  currency: "USD" as string | null,
  grams: null as number | null,
  available: null as boolean | null,
  option1: null as string | null,
  option2: null as string | null,
  option3: null as string | null,
  position: 1,
  image_src: null as string | null,
  requires_shipping: true as boolean | null
}
type VariantOfRow = typeof variant & { readonly variant_id: string }
export const aVariant = (stated: Partial<VariantOfRow> & Pick<VariantOfRow, "variant_id">): VariantOfRow => ({
  ...variant,
  ...stated
})

const product = {
  native_id: "1",
  title: "Walnut bread",
  handle: null as string | null,
  vendor: null as string | null,
  product_type: null as string | null,
  category: "uncategorized",
  sub_category: "uncategorized",
  category_method: "none",
  category_confidence: 0,
  tags: [] as ReadonlyArray<string>,
  body_text: null as string | null,
  images: [] as ReadonlyArray<Image>,
  price_min: null as string | null,
  price_max: null as string | null,
  currency: "USD" as string | null,
  variants: [] as ReadonlyArray<VariantOfRow>,
  is_merchandise: true,
  published_at: null as string | null,
  source_rows: 1
}
export type ProductRow = typeof product & { readonly product_id: string; readonly store_id: string }
export const aProduct = (stated: Partial<ProductRow> & Pick<ProductRow, "product_id" | "store_id">): ProductRow => ({
  ...product,
  ...stated
})

const collection = {
  native_id: "1",
  title: "Bread",
  handle: null as string | null,
  description: null as string | null,
  image: null as Image | null,
  published_at: null as string | null,
  updated_at: null as string | null,
  product_ids: [] as ReadonlyArray<string>
}
export type CollectionRow = typeof collection & { readonly collection_id: string; readonly store_id: string }
export const aCollection = (
  stated: Partial<CollectionRow> & Pick<CollectionRow, "collection_id" | "store_id">
): CollectionRow => ({ ...collection, ...stated })

/** The rows that one run read. */
export interface Reads {
  readonly stores: ReadonlyArray<StoreRow>
  readonly products?: ReadonlyArray<ProductRow>
  readonly collections?: ReadonlyArray<CollectionRow>
  /** Later than the previous read of a store. */
  readonly read_at?: string
}

const Column = Schema.Struct({ name: Schema.String, type: Schema.String })
const selectColumns = `
  select column_name as name, data_type as type from duckdb_columns()
  where database_name = current_database() and schema_name = $schema and table_name = $table
  order by column_index`

const load = Effect.fnUntraced(function* (
  { db, file }: Staging,
  table: string,
  rows: ReadonlyArray<object>,
  schema = "storefront"
) {
  if (rows.length === 0) return
  const lines = `${file}.${table}.ndjson`
  yield* Effect.sync(() => writeFileSync(lines, rows.map((row) => `${JSON.stringify(row)}\n`).join("")))
  const columns = (yield* db.all(Column, selectColumns, { schema, table })).map(
    ({ name, type }) => `${literal(name)}: ${literal(type)}`
  )
  yield* db.run(`
    insert into ${schema}.${identifier(table)} by name
    from read_json(${literal(lines)}, format = 'newline_delimited', auto_detect = false, columns = {${columns.join(", ")}})`)
})

const fill = (run_id: string, { collections = [], products = [], read_at = firstRead, stores }: Reads) =>
  Effect.fnUntraced(function* (staging: Staging) {
    const runColumns = { run_id, raw_sha256: "ab", fetched_at: read_at }
    yield* load(
      staging,
      "store",
      stores.map((row) => ({ ...row, run_id }))
    )
    yield* load(
      staging,
      "product",
      products.map((row) => ({ ...row, ...runColumns }))
    )
    yield* load(
      staging,
      "collection",
      collections.map(({ image, ...row }) => {
        const picture = { image_src: image?.src, image_width: image?.width, image_height: image?.height }
        return { ...row, ...picture, ...runColumns }
      })
    )
    yield* load(
      staging,
      "store_read",
      stores.map(({ currency, fetch_status, outcome, store_id }) => {
        const feed = `store/${store_id}.example`
        const read = { run_id, store_id, read_at, fetch_status, outcome, currency, seconds: 1, feed }
        const has_all_products = fetch_status === "complete"
        const found = { products_read: products.length, has_all_products, collections_read: collections.length }
        return { ...read, pages_read: 1, ...found, is_taken: fetch_status !== "failed" }
      }),
      "ingest"
    )
    return products.length + collections.length
  })

/** Publishes the reads of a run. Returns the name of the generation. */
export const publishReads = (home: string, reads: Reads): Promise<string | null> => {
  const run_id = `run-${randomUUID()}`
  const published = Effect.gen(function* () {
    const layout = yield* layoutOf(home)
    const { filled, staged } = yield* stage(layout, aRun({ run_id }), storefront, fill(run_id, reads))
    const { read_at = firstRead } = reads
    const times = { started_at: read_at, finished_at: read_at }
    return yield* publishStaged(
      layout,
      storefront,
      staged,
      aRun({ run_id, pipeline: "storefronts", ...times, rows_read: filled })
    )
  })
  return Effect.runPromise(
    published.pipe(
      Effect.map(({ run }) => run.generation),
      Effect.scoped,
      Effect.provide(NodeServices.layer)
    )
  )
}

/** Makes a home that contains only these stores. The caller removes it. */
export const makeHome = async (reads: Reads): Promise<string> => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-stores-"))
  try {
    await publishReads(home, reads)
    return home
  } catch (error) {
    rmSync(home, { recursive: true, force: true })
    throw error
  }
}

const toNumber = (decimal: string | null) => (decimal === null ? null : Number(decimal))

export const summaryRecord = (row: ProductRow) => ({
  id: row.product_id,
  title: row.title,
  handle: row.handle,
  vendor: row.vendor,
  product_type: row.product_type,
  category: row.category,
  sub_category: row.sub_category,
  tags: row.tags,
  image: row.images[0] ?? null,
  price: { min: toNumber(row.price_min), max: toNumber(row.price_max), currency: row.currency },
  variant_count: row.variants.length,
  published_at: row.published_at,
  source: "platform"
})

export const collectionRecord = (row: CollectionRow, product_count: number) => ({
  id: row.collection_id,
  title: row.title,
  handle: row.handle,
  description: row.description,
  image: row.image,
  product_count,
  published_at: row.published_at,
  updated_at: row.updated_at,
  source: "platform"
})

/** Sorts by publication time, newest first and unpublished last, then by the bytes of the id. */
export const newestFirst = <A extends { readonly published_at: string | null }>(
  rows: ReadonlyArray<A>,
  id: (row: A) => string
): ReadonlyArray<A> => {
  const time = (row: A) => (row.published_at === null ? Number.NEGATIVE_INFINITY : Date.parse(row.published_at))
  return rows.toSorted((a, b) =>
    time(a) === time(b) ? Buffer.from(id(a)).compare(Buffer.from(id(b))) : time(b) - time(a)
  )
}
