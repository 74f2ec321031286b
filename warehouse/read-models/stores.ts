/** The stores of one generation, in memory and in the form in which they leave, and their search. */
import { Store } from "@larder/schemas/storefront/records.ts"
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { moment } from "./json-in-sql.ts"

export interface StoreFilters {
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
  ...stated
} = Store.fields
const StoreRow = Schema.Struct(stated)
const storeRows = `
  select store_id as id, name, domain, url, description, country, currency, language, fetch_status,
    ${moment("first_seen_at")} as first_seen_at, ${moment("fetched_at")} as fetched_at
  from storefront.store`

const CategoryRow = Schema.Struct({ store_id: Schema.String, category: Schema.String, product_count })
const categoryRows = `
  select store_id, category, count(*)::integer as product_count
  from storefront.listing
  group by all
  order by store_id, product_count desc, category`

const isBefore = (a: StorePosition, b: StorePosition) => a.name < b.name || (a.name === b.name && a.id < b.id)

export const loadStores = Effect.fnUntraced(function* (db: DuckDb["Service"], counts: Counts) {
  const categoriesOf = new Map<string, Array<{ readonly category: string; readonly product_count: number }>>()
  for (const { store_id, ...row } of yield* db.all(CategoryRow, categoryRows)) {
    const categories = categoriesOf.get(store_id)
    if (categories === undefined) categoriesOf.set(store_id, [row])
    else categories.push(row)
  }
  const stores = (yield* db.all(StoreRow, storeRows)).map(({ fetch_status, fetched_at, first_seen_at, ...told }) => {
    const categories = categoriesOf.get(told.id) ?? []
    const record: typeof Store.Type = {
      ...told,
      category: categories[0]?.category ?? "uncategorized",
      categories,
      product_count: counts.products(told.id),
      collection_count: counts.collections(told.id),
      fetch_status,
      first_seen_at,
      fetched_at,
      source: "platform"
    }
    return {
      id: told.id,
      name: told.name.toLowerCase(),
      domain: told.domain.toLowerCase(),
      country: told.country,
      categories: new Set(categories.map(({ category }) => category)),
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
  return { json: (id) => jsonOf.get(id), search } satisfies Stores as Stores
})
