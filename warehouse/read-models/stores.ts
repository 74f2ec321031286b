/**
 * The stores of one generation, serialized in memory, and their search. The result of each store's last read is loaded
 * separately, because every read changes it, while the stores stay the same.
 */
import { Store } from "@larder/schemas"
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { timestampToText } from "./json-expressions.ts"

type StoreFilters = Readonly<Record<"query" | "category" | "country", string | undefined>>

/** Stores are ordered by lower-cased name, then by id. */
export interface StorePosition {
  readonly name: string
  readonly id: string
}

type Counts = Readonly<Record<"products" | "collections", (store: string) => number>>

const {
  category: _,
  categories: _categories,
  product_count,
  collection_count,
  source: _source,
  fetch_status,
  fetched_at,
  ...storedFields
} = Store.fields
const StoreRow = Schema.Struct(storedFields)
const selectStores = `
  select store_id as id, name, domain, url, description, country, currency, language,
    ${timestampToText("first_seen_at")} as first_seen_at
  from storefront.store`

const LastRead = Schema.Struct({ store_id: Schema.String, fetch_status, fetched_at })
const selectLastReads = `
  select store_id, arg_max(fetch_status, (read_at, run_id)) as fetch_status,
    ${timestampToText("max(read_at) filter (fetch_status <> 'failed')")} as fetched_at
  from ingest.live_store_read
  group by store_id`

export const loadLastReads = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(LastRead, selectLastReads),
    (rows) => new Map(rows.map(({ store_id, ...read }) => [store_id, read]))
  )
type LastReads = Effect.Success<ReturnType<typeof loadLastReads>>

const CategoryRow = Schema.Struct({ store_id: Schema.String, category: Schema.String, product_count })
const selectCategories = `
  select store_id, category, count(*)::integer as product_count
  from storefront.listing
  group by all
  order by store_id, product_count desc, category`

const isBefore = (a: StorePosition, b: StorePosition) => a.name < b.name || (a.name === b.name && a.id < b.id)

export const loadStores = Effect.fnUntraced(function* (db: DuckDb["Service"], counts: Counts) {
  const rowsOfStore = Map.groupBy(yield* db.all(CategoryRow, selectCategories), ({ store_id }) => store_id)
  return (yield* db.all(StoreRow, selectStores)).map((store) => {
    const categories = (rowsOfStore.get(store.id) ?? []).map(({ store_id: _store, ...row }) => row)
    return {
      ...store,
      category: categories[0]?.category ?? "uncategorized",
      categories,
      product_count: counts.products(store.id),
      collection_count: counts.collections(store.id)
    }
  })
})
type LoadedStores = Effect.Success<ReturnType<typeof loadStores>>

const neverRead = { fetch_status: "failed", fetched_at: null } as const

/** Needs no database: after new reads, call it again with the stores that are already loaded. */
export const makeStores = (loaded: LoadedStores, lastReads: LastReads) => {
  const stores = loaded.map(({ first_seen_at, ...store }) => {
    const { fetch_status, fetched_at } = lastReads.get(store.id) ?? neverRead
    const record: typeof Store.Type = { ...store, fetch_status, first_seen_at, fetched_at, source: "platform" }
    return {
      id: store.id,
      name: store.name.toLowerCase(),
      domain: store.domain.toLowerCase(),
      country: store.country,
      categories: new Set(store.categories.map(({ category }) => category)),
      json: JSON.stringify(record)
    }
  })
  stores.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const jsonOf = new Map(stores.map(({ id, json }) => [id, json]))

  const search = ({ category, country, query }: StoreFilters, after: StorePosition | undefined, limit: number) => {
    const text = query?.toLowerCase()
    const matches: typeof stores = []
    for (const store of stores) {
      if (after !== undefined && !isBefore(after, store)) continue
      if (text !== undefined && !store.name.includes(text) && !store.domain.includes(text)) continue
      if (category !== undefined && !store.categories.has(category)) continue
      if (country !== undefined && store.country !== country) continue
      matches.push(store)
      if (matches.length > limit) break
    }
    const last = matches.length > limit ? matches[limit - 1] : undefined
    return {
      records: matches.slice(0, limit).map(({ json }) => json),
      next: last && { name: last.name, id: last.id }
    }
  }
  return { json: (id: string) => jsonOf.get(id), search }
}

export type Stores = ReturnType<typeof makeStores>
