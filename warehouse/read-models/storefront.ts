/** Storefronts of one generation: stores in memory, products and collections read on request. */
import { Effect } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { timestampToText } from "./json-expressions.ts"
import { openProducts, productFields } from "./product-details.ts"
import { openLists, type SortedTable } from "./store-lists.ts"
import { loadLastReads, loadStores, makeStores, type Stores } from "./stores.ts"

const image = "if(image_src is null, null, {'src': image_src, 'width': image_width, 'height': image_height})"

const listing: SortedTable = {
  name: "listing",
  id: "product_id",
  record: `to_json({${productFields(image, "variant_count")}})`
}

const collectionListing: SortedTable = {
  name: "collection_listing",
  id: "collection_id",
  record: `to_json({
    'id': collection_id, 'title': title, 'handle': handle, 'description': description, 'image': ${image},
    'product_count': product_count,
    'published_at': ${timestampToText("published_at")},
    'updated_at': ${timestampToText("updated_at")},
    'source': 'platform'
  })`
}

export const loadStorefronts = Effect.fn("Storefronts.load")(function* (db: DuckDb["Service"]) {
  const products = yield* openLists(db, listing)
  const collections = yield* openLists(db, collectionListing)
  const facts = yield* loadStores(db, { products: products.count, collections: collections.count })
  const product = yield* openProducts(db)
  return { facts, products, collections, product }
})

/** Without the stores' last reads. */
type StorefrontData = Effect.Success<ReturnType<typeof loadStorefronts>>

export interface Storefronts extends Omit<StorefrontData, "facts"> {
  readonly stores: Stores
}

/** Adds the stores' last reads, which change even if the data does not. */
export const withLastReads = ({ facts, ...data }: StorefrontData, ingest: DuckDb["Service"]) =>
  Effect.map(loadLastReads(ingest), (lastReads): Storefronts => ({ ...data, stores: makeStores(facts, lastReads) }))
