/** Reads of stores, published one after the other, for tests of what becomes of them. Ids are as short as the tests like. */

import { createHalfProductTable, halfProductTable, type Layout, literal, stage, storefront } from "@larder/warehouse"
import { Effect } from "effect"
import { oncePerFile } from "../once-per-file.ts"
import { aLayout, aRun, publishStaged, queryWarehouse } from "./example-data-set.ts"

type Value = string | number | boolean | null | ReadonlyArray<Value> | { readonly [key: string]: Value }
type Columns = Readonly<Record<string, Value>>

interface ProductRead {
  readonly id: string
  readonly variants?: ReadonlyArray<Columns>
  /** Some of its rows may be missing. */
  readonly is_half?: true
  readonly set?: Columns
}

/** What a run found of one store; `set` gives other columns of the store. */
export interface StoreRead {
  /** Of January 2026. */
  readonly day: number
  readonly store?: string
  readonly status?: "complete" | "partial" | "failed"
  /** Unless said otherwise, a complete read has them and others have not. */
  readonly has_all_products?: boolean
  /** Unless said otherwise, the same as the status. */
  readonly outcome?: string
  readonly set?: Columns
  readonly products?: ReadonlyArray<ProductRead>
  readonly collections?: ReadonlyArray<{ readonly id: string; readonly set?: Columns }>
}

const sqlOf = (value: Value): string => {
  if (typeof value === "string") return literal(value)
  if (typeof value !== "object" || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(sqlOf).join(", ")}]`
  return `{${Object.entries(value)
    .map(([key, part]) => `${literal(key)}: ${sqlOf(part)}`)
    .join(", ")}}`
}

const insert = (table: string, columns: Columns, schema = "storefront") =>
  `insert into ${schema}.${table} by name select ${Object.entries(columns)
    .map(([column, value]) => `${sqlOf(value)} as "${column}"`)
    .join(", ")}`

export const timeOfDay = (day: number) => `2026-01-${String(day).padStart(2, "0")} 10:00:00`

const storeOf = (read: StoreRead, store_id: string, run_id: string): Columns => ({
  store_id,
  domain: `${store_id}.example.com`,
  name: store_id,
  kind: "shopify",
  url: `https://${store_id}.example.com`,
  first_seen_at: timeOfDay(read.day),
  run_id,
  ...read.set
})

const variantOf = (variant: Columns, index: number): Columns => ({
  variant_id: "",
  native_id: "",
  title: "Default Title",
  sku: null,
  barcode: null,
  price: 2.5,
  compare_at_price: null,
  currency: "USD",
  grams: null,
  available: true,
  option1: null,
  option2: null,
  option3: null,
  position: index + 1,
  image_src: null,
  requires_shipping: null,
  ...variant
})

/** Without others it has one variant, called after the product. */
const productOf = ({ id, set, variants = [{ variant_id: `${id}.1` }] }: ProductRead, store_id: string): Columns => ({
  product_id: id,
  store_id,
  native_id: id,
  title: id,
  category: "uncategorized",
  sub_category: "uncategorized",
  category_method: "none",
  category_confidence: 0,
  tags: [],
  images: [],
  currency: "USD",
  variants: variants.map(variantOf),
  is_merchandise: true,
  source_rows: 1,
  ...set
})

const rowsOf = (read: StoreRead, run_id: string): ReadonlyArray<string> => {
  const store_id = read.store ?? "shop"
  const fetched = { fetched_at: timeOfDay(read.day), run_id, raw_sha256: run_id }
  const { collections = [], products = [], status = "complete" } = read
  const { has_all_products = status === "complete", outcome = status } = read
  return [
    insert("store", storeOf(read, store_id, run_id)),
    insert(
      "store_read",
      {
        run_id,
        store_id,
        read_at: timeOfDay(read.day),
        fetch_status: status,
        outcome,
        pages_read: 1,
        products_read: products.length,
        has_all_products,
        is_taken: status !== "failed",
        collections_read: collections.length,
        seconds: 1.5
      },
      "ingest"
    ),
    createHalfProductTable,
    ...products.flatMap(({ id, is_half }) =>
      is_half ? [`insert into ${halfProductTable} values (${literal(id)})`] : []
    ),
    ...products.map((product) => insert("product", { ...productOf(product, store_id), ...fetched })),
    ...collections.map(({ id, set }) =>
      insert("collection", {
        collection_id: id,
        store_id,
        native_id: id,
        title: id,
        product_ids: [],
        ...fetched,
        ...set
      })
    )
  ]
}

/** A whole run, called `run-<day>`: stages what was read of each store, and publishes it. */
export const publishReads = Effect.fnUntraced(function* (layout: Layout, ...reads: ReadonlyArray<StoreRead>) {
  const run_id = `run-${reads[0]?.day}`
  const rows = reads.flatMap((read) => rowsOf(read, run_id))
  const { staged } = yield* stage(layout, aRun({ run_id }), storefront, ({ db }) =>
    db.run(["begin", ...rows, "commit"].join(";\n"))
  )
  const found = reads.flatMap(({ collections = [], products = [] }) => [...products, ...collections])
  const run = aRun({ run_id, pipeline: "storefronts", rows_read: found.length })
  return yield* publishStaged(layout, storefront, staged, run)
}, Effect.scoped)

const inStore = (store: string | undefined) => (store === undefined ? "" : `where store_id = ${literal(store)}`)
/** Ids without the prefix that `storesOfFile` gives them. */
const shortened = (column: string) => `regexp_replace(${column}, '^.*/', '') as ${column}`

/** What each product and collection is known to be: first and last seen on these days, and listed or not. */
export const sightings = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select ${shortened("id")}, day(first_seen_at)::integer as first, day(last_seen_at)::integer as last, is_listed
       from storefront.last_seen ${inStore(store)} order by kind desc, id`
    ),
    (rows) => rows.map(({ first, id, is_listed, last }) => [id, first, last, is_listed])
  )

/** Day, variant, change and price. */
export const history = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select day(seen_at)::integer as day, ${shortened("variant_id")}, change, price::double as price
       from storefront.variant_change ${inStore(store)} order by seen_at, variant_id`
    ),
    (rows) => rows.map(({ change, day, price, variant_id }) => [day, variant_id, change, price])
  )

/** Ids of the products that are served, in their order. */
export const listed = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select ${shortened("product_id")} from storefront.listing ${inStore(store)} order by store_id, place`
    ),
    (rows) => rows.map(({ product_id }) => product_id)
  )

const prefixed = (store: string, read: StoreRead): StoreRead => {
  const named = (id: unknown) => `${store}/${id}`
  const { collections = [], products = [] } = read
  return {
    ...read,
    store,
    products: products.map(({ id, variants = [{ variant_id: `${id}.1` }], ...product }) => ({
      ...product,
      id: named(id),
      variants: variants.map((variant) => ({ ...variant, variant_id: named(variant.variant_id) }))
    })),
    collections: collections.map(({ id, set = {} }) => {
      const { product_ids = [] } = set
      return { id: named(id), set: { ...set, product_ids: Array.isArray(product_ids) ? product_ids.map(named) : [] } }
    })
  }
}

/**
 * Stores whose reads are published together, one run for each day: a run for each store would take half a second of CPU. Their
 * products and collections have ids of their own, which the answers shorten again.
 */
export const shareStores = () => {
  const reads: Array<StoreRead> = []
  const published = oncePerFile(
    Effect.gen(function* () {
      const layout = yield* aLayout
      const days = new Set(reads.map(({ day }) => day).sort((a, b) => a - b))
      for (const day of days) yield* publishReads(layout, ...reads.filter((read) => read.day === day))
      return layout
    })
  )
  return (store: string, ...ofStore: ReadonlyArray<StoreRead>) => {
    reads.push(...ofStore.map((read) => prefixed(store, read)))
    return {
      sightings: Effect.flatMap(published, (layout) => sightings(layout, store)),
      history: Effect.flatMap(published, (layout) => history(layout, store)),
      listed: Effect.flatMap(published, (layout) => listed(layout, store)),
      /** Rows of a table or view of this store, of the schema `storefront` unless it is named with another. */
      rows: (columns: string, from: string, order = "all") =>
        Effect.flatMap(published, (layout) =>
          queryWarehouse(
            layout,
            `select ${columns} from ${from.includes(".") ? from : `storefront.${from}`} ${inStore(store)} order by ${order}`
          )
        )
    }
  }
}
