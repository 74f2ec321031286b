/** Storefronts of one generation: stores in memory, their products and collections read when they are asked for. */
import { Effect } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { amount, moment } from "./json-in-sql.ts"
import { openProducts, type ProductById } from "./product-details.ts"
import { openLists, type SortedTable, type StoreLists } from "./store-lists.ts"
import { loadLastReads, loadStoreFacts, type Stores, storesOf } from "./stores.ts"

export interface Storefronts {
  readonly stores: Stores
  readonly products: StoreLists
  readonly collections: StoreLists
  /** A listed product with gallery and variants, as finished JSON. */
  readonly product: ProductById
}

const listing: SortedTable = {
  name: "listing",
  id: "product_id",
  record: `to_json({
    'id': product_id, 'title': title, 'handle': handle, 'vendor': vendor, 'product_type': product_type,
    'category': category, 'sub_category': sub_category, 'tags': tags, 'image': image,
    'price': {'min': ${amount("price_min")}, 'max': ${amount("price_max")}, 'currency': currency},
    'variant_count': variant_count,
    'published_at': ${moment("published_at")},
    'source': 'platform'
  })`
}

const collectionListing: SortedTable = {
  name: "collection_listing",
  id: "collection_id",
  record: `to_json({
    'id': collection_id, 'title': title, 'handle': handle, 'description': description, 'image': image,
    'product_count': product_count,
    'published_at': ${moment("published_at")},
    'updated_at': ${moment("updated_at")},
    'source': 'platform'
  })`
}

export const loadStorefronts = Effect.fn("Storefronts.load")(function* (db: DuckDb["Service"]) {
  const products = yield* openLists(db, listing)
  const collections = yield* openLists(db, collectionListing)
  const facts = yield* loadStoreFacts(db, { products: products.count, collections: collections.count })
  const stores = storesOf(facts, yield* loadLastReads(db))
  const product = yield* openProducts(db)
  return { stores, products, collections, product } satisfies Storefronts as Storefronts
})
