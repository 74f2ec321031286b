/**
 * The stores of one generation, in memory and already serialized for responses, and their search. The results of their
 * last reads are loaded separately: they change with every read, and the stores do not.
 */
import { Store } from "@larder/schemas"
import { Effect, Schema } from "effect"
import type { DuckDb, DuckDbError } from "../duckdb.ts"
import { moment } from "./json-in-sql.ts"

interface StoreFilters {
  readonly query: string | undefined
  readonly category: string | undefined
  readonly country: string | undefined
}

/** Stores are ordered by lower-cased name, then by id. */
export interface StorePosition {
  readonly name: string
  readonly id: string
}

export interface Stores {
  readonly json: (id: string) => string | undefined
  readonly search: (
    filters: StoreFilters,
    after: StorePosition | undefined,
    limit: number
  ) => { readonly records: ReadonlyArray<string>; readonly next: StorePosition | undefined }
}

interface Counts {
  readonly products: (store: string) => number
  readonly collections: (store: string) => number
}

const {
  category: _,
  categories: _categories,
  product_count,
  collection_count,
  source: _source,
  fetch_status,
  fetched_at,
  ...stated
} = Store.fields
const StoreRow = Schema.Struct(stated)
const storeRows = `
  select store_id as id, name, domain, url, description, country, currency, language,
    ${moment("first_seen_at")} as first_seen_at
  from storefront.store`

const LastRead = Schema.Struct({ store_id: Schema.String, fetch_status, fetched_at })
const lastReads = `
  select store_id, arg_max(fetch_status, (read_at, run_id)) as fetch_status,
    ${moment("max(read_at) filter (fetch_status <> 'failed')")} as fetched_at
  from ingest.live_store_read
  group by store_id`

/** By the id of the store. */
type LastReads = ReadonlyMap<string, Pick<typeof LastRead.Type, "fetch_status" | "fetched_at">>

export const loadLastReads = (db: DuckDb["Service"]): Effect.Effect<LastReads, DuckDbError> =>
  Effect.map(db.all(LastRead, lastReads), (rows) => new Map(rows.map(({ store_id, ...read }) => [store_id, read])))

const CategoryRow = Schema.Struct({ store_id: Schema.String, category: Schema.String, product_count })
const categoryRows = `
  select store_id, category, count(*)::integer as product_count
  from storefront.listing
  group by all
  order by store_id, product_count desc, category`

const isBefore = (a: StorePosition, b: StorePosition) => a.name < b.name || (a.name === b.name && a.id < b.id)

/** The facts of a generation about its stores, without their last reads. */
export const loadStoreFacts = Effect.fnUntraced(function* (db: DuckDb["Service"], counts: Counts) {
  const categoriesOf = new Map<string, Array<{ readonly category: string; readonly product_count: number }>>()
  for (const { store_id, ...row } of yield* db.all(CategoryRow, categoryRows)) {
    const categories = categoriesOf.get(store_id)
    if (categories === undefined) categoriesOf.set(store_id, [row])
    else categories.push(row)
  }
  return (yield* db.all(StoreRow, storeRows)).map((told) => {
    const categories = categoriesOf.get(told.id) ?? []
    return {
      ...told,
      category: categories[0]?.category ?? "uncategorized",
      categories,
      product_count: counts.products(told.id),
      collection_count: counts.collections(told.id)
    }
  })
})
export type StoreFacts = Effect.Success<ReturnType<typeof loadStoreFacts>>

/** For a store whose reads are not known. */
const neverRead = { fetch_status: "failed", fetched_at: null } as const

/** Queries no database, so later reads of the same stores do not load the rows again. */
export const storesOf = (facts: StoreFacts, lastReads: LastReads): Stores => {
  const stores = facts.map(({ first_seen_at, ...told }) => {
    const { fetch_status, fetched_at } = lastReads.get(told.id) ?? neverRead
    const record: typeof Store.Type = { ...told, fetch_status, first_seen_at, fetched_at, source: "platform" }
    return {
      id: told.id,
      name: told.name.toLowerCase(),
      domain: told.domain.toLowerCase(),
      country: told.country,
      categories: new Set(told.categories.map(({ category }) => category)),
      json: JSON.stringify(record)
    }
  })
  stores.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  const jsonOf = new Map(stores.map(({ id, json }) => [id, json]))

  const search: Stores["search"] = ({ category, country, query }, after, limit) => {
    const text = query?.toLowerCase()
    const found: Array<(typeof stores)[number]> = []
    for (const store of stores) {
      if (after !== undefined && !isBefore(after, store)) continue
      if (text !== undefined && !store.name.includes(text) && !store.domain.includes(text)) continue
      if (category !== undefined && !store.categories.has(category)) continue
      if (country !== undefined && store.country !== country) continue
      found.push(store)
      if (found.length > limit) break
    }
    const last = found.length > limit ? found[limit - 1] : undefined
    return {
      records: found.slice(0, limit).map(({ json }) => json),
      next: last && { name: last.name, id: last.id }
    }
  }
  return { json: (id) => jsonOf.get(id), search }
}
