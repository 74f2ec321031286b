/** Publishes reads of stores without feeds, for tests of how they are reconciled. Tests choose short ids. */
import {
  createPossiblyIncompleteTable,
  type Layout,
  literal,
  possiblyIncompleteTable,
  stage,
  storefront
} from "@larder/warehouse"
import { Effect } from "effect"
import { oncePerFile } from "../once-per-file.ts"
import { aLayout, aRun, publishStaged, queryWarehouse } from "./example-data-set.ts"

type Value = string | number | boolean | null | ReadonlyArray<Value> | { readonly [key: string]: Value }
type Columns = Readonly<Record<string, Value>>

interface ProductRead {
  readonly id: string
  readonly variants?: ReadonlyArray<Columns>
  /** Whether some of its rows may be missing. */
  readonly may_be_incomplete?: true
  readonly set?: Columns
}

/** The read of one store. `set` has other columns of the store. */
export interface StoreRead {
  /** Day of January 2026. */
  readonly day: number
  /** Instead of that day at 10:00. */
  readonly read_at?: string
  readonly store?: string
  readonly status?: "complete" | "partial" | "failed"
  /** Default: whether the read is complete. */
  readonly has_all_products?: boolean
  /** Default: the status. */
  readonly outcome?: string
  readonly sale_changes_at?: string
  readonly set?: Columns
  readonly products?: ReadonlyArray<ProductRead>
  readonly collections?: ReadonlyArray<{ readonly id: string; readonly set?: Columns }>
}

const toSql = (value: Value): string => {
  if (typeof value === "string") return literal(value)
  if (typeof value !== "object" || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(toSql).join(", ")}]`
  return `{${Object.entries(value)
    .map(([key, part]) => `${literal(key)}: ${toSql(part)}`)
    .join(", ")}}`
}

const insert = (table: string, columns: Columns, schema = "storefront") =>
  `insert into ${schema}.${table} by name select ${Object.entries(columns)
    .map(([column, value]) => `${toSql(value)} as "${column}"`)
    .join(", ")}`

export const timeOfDay = (day: number) => `2026-01-${String(day).padStart(2, "0")} 10:00:00`

const toStore = (read: StoreRead, store_id: string, run_id: string): Columns => ({
  store_id,
  domain: `${store_id}.example.com`,
  name: store_id,
  kind: "shopify",
  url: `https://${store_id}.example.com`,
  first_seen_at: timeOfDay(read.day),
  run_id,
  ...read.set
})

const toVariant = (variant: Columns, index: number): Columns => ({
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

/** By default it has one variant, whose id is derived from the id of the product. */
const toProduct = ({ id, set, variants = [{ variant_id: `${id}.1` }] }: ProductRead, store_id: string): Columns => ({
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
  variants: variants.map(toVariant),
  is_merchandise: true,
  source_rows: 1,
  ...set
})

const insertRows = (read: StoreRead, run_id: string): ReadonlyArray<string> => {
  const store_id = read.store ?? "shop"
  const fetched = { fetched_at: timeOfDay(read.day), run_id, raw_sha256: run_id }
  const { collections = [], products = [], status = "complete" } = read
  const { has_all_products = status === "complete", outcome = status } = read
  return [
    insert("store", toStore(read, store_id, run_id)),
    insert(
      "store_read",
      {
        run_id,
        store_id,
        read_at: read.read_at ?? timeOfDay(read.day),
        fetch_status: status,
        outcome,
        pages_read: 1,
        products_read: products.length,
        has_all_products,
        is_taken: status !== "failed",
        collections_read: collections.length,
        seconds: 1.5,
        feed: `store/${store_id}.example.com`,
        sale_changes_at: read.sale_changes_at ?? null
      },
      "ingest"
    ),
    createPossiblyIncompleteTable,
    ...products.flatMap(({ id, may_be_incomplete }) =>
      may_be_incomplete ? [`insert into ${possiblyIncompleteTable} values (${literal(id)})`] : []
    ),
    ...products.map((product) => insert("product", { ...toProduct(product, store_id), ...fetched })),
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

/** A whole run with the id `run-<day>`: stages and publishes the reads of these stores. */
export const publishReads = Effect.fnUntraced(function* (layout: Layout, ...reads: ReadonlyArray<StoreRead>) {
  const run_id = `run-${reads[0]?.day}`
  const rows = reads.flatMap((read) => insertRows(read, run_id))
  const { staged } = yield* stage(layout, aRun({ run_id }), storefront, ({ db }) =>
    db.run(["begin", ...rows, "commit"].join(";\n"))
  )
  const found = reads.flatMap(({ collections = [], products = [] }) => [...products, ...collections])
  const run = aRun({ run_id, pipeline: "storefronts", rows_read: found.length })
  return yield* publishStaged(layout, storefront, staged, run)
}, Effect.scoped)

const whereStore = (store: string | undefined) => (store === undefined ? "" : `where store_id = ${literal(store)}`)
/** Removes the prefix that `shareStores` adds to ids. */
const shorten = (column: string) => `regexp_replace(${column}, '^.*/', '') as ${column}`

/** For each product and collection: the days when it was first and last seen, and whether it is listed. */
export const sightings = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select ${shorten("id")}, day(first_seen_at)::integer as first, day(last_seen_at)::integer as last, is_listed
       from storefront.last_seen ${whereStore(store)} order by kind desc, id`
    ),
    (rows) => rows.map(({ first, id, is_listed, last }) => [id, first, last, is_listed])
  )

/** Changes of variants: day, variant, change and price. */
export const history = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select day(seen_at)::integer as day, ${shorten("variant_id")}, change, price::double as price
       from storefront.variant_change ${whereStore(store)} order by seen_at, variant_id`
    ),
    (rows) => rows.map(({ change, day, price, variant_id }) => [day, variant_id, change, price])
  )

/** Ids of the listed products, in their order. */
export const listed = (layout: Layout, store?: string) =>
  Effect.map(
    queryWarehouse(
      layout,
      `select ${shorten("product_id")} from storefront.listing ${whereStore(store)} order by store_id, place`
    ),
    (rows) => rows.map(({ product_id }) => product_id)
  )

const addPrefix = (store: string, read: StoreRead): StoreRead => {
  const withPrefix = (id: unknown) => `${store}/${id}`
  const { collections = [], products = [] } = read
  return {
    ...read,
    store,
    products: products.map(({ id, variants = [{ variant_id: `${id}.1` }], ...product }) => ({
      ...product,
      id: withPrefix(id),
      variants: variants.map((variant) => ({ ...variant, variant_id: withPrefix(variant.variant_id) }))
    })),
    collections: collections.map(({ id, set = {} }) => {
      const { product_ids = [] } = set
      return {
        id: withPrefix(id),
        set: { ...set, product_ids: Array.isArray(product_ids) ? product_ids.map(withPrefix) : [] }
      }
    })
  }
}

/**
 * Stores of one test file whose reads are published together, one run per day: a run for each store would take half a
 * second of CPU. Ids of products and collections get the store as a prefix, which results do not show.
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
  return (store: string, ...readsOfStore: ReadonlyArray<StoreRead>) => {
    reads.push(...readsOfStore.map((read) => addPrefix(store, read)))
    return {
      sightings: Effect.flatMap(published, (layout) => sightings(layout, store)),
      history: Effect.flatMap(published, (layout) => history(layout, store)),
      listed: Effect.flatMap(published, (layout) => listed(layout, store)),
      /** Rows of this store in a table or view. Without a schema in its name, this is in `storefront`. */
      rows: (columns: string, from: string, order = "all") =>
        Effect.flatMap(published, (layout) =>
          queryWarehouse(
            layout,
            `select ${columns} from ${from.includes(".") ? from : `storefront.${from}`} ${whereStore(store)} order by ${order}`
          )
        )
    }
  }
}
