/**
 * Storefronts of one generation: stores in memory, products and collections read on request.
 *
 * Finding a single product by its id among a million strings takes tens of milliseconds. So hashes of the ids of listed
 * products are in memory with their row numbers, 16 bytes each and sorted, and rows are read by number.
 */
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { decimalToJson, doubleToJson, timestampToText } from "./json-expressions.ts"
import { openLists, type SortedTable } from "./store-lists.ts"
import { loadLastReads, loadStores, makeStores, type Stores } from "./stores.ts"

/** An in-memory database, because a read-only instance of DuckDB accepts no new tables. */
const createLookup = `
  attach ':memory:' as lookup (read_write);
  create table lookup.product as
  select hash(product_id) as id_hash, rowid as row_number
  from storefront.product
  semi join storefront.listing using (product_id)
  order by id_hash`

/** The JSON fields that a product has both in a list and as a single record. */
const productFields = (image: string, variantCount: string) => `
    'id': product_id, 'title': title, 'handle': handle, 'vendor': vendor, 'product_type': product_type,
    'category': category, 'sub_category': sub_category, 'tags': tags, 'image': ${image},
    'price': {'min': ${decimalToJson("price_min")}, 'max': ${decimalToJson("price_max")}, 'currency': currency},
    'variant_count': ${variantCount},
    'published_at': ${timestampToText("published_at")},
    'source': 'platform'`

const RowNumber = Schema.Struct({ row_number: Schema.BigInt })
const selectRowNumbers = "select row_number from lookup.product where id_hash = hash($id)"

/** Omits prices in other currencies, which readers would take for prices in the product's currency. */
const inCurrency = (price: string) => `if(v.currency is not distinct from p.currency, ${decimalToJson(price)}, null)`

const productJson = `
  to_json({
    ${productFields("p.images[1]", "len(p.variants)")},
    'store_id': p.store_id,
    'body_text': p.body_text,
    'images': p.images,
    'variants': list_transform(p.variants, lambda v: {
      'id': v.variant_id, 'title': v.title, 'sku': v.sku,
      'price': ${inCurrency("v.price")}, 'compare_at_price': ${inCurrency("v.compare_at_price")},
      'grams': ${doubleToJson("v.grams")}, 'available': v.available,
      'option1': v.option1, 'option2': v.option2, 'option3': v.option3,
      'position': v.position, 'image_src': v.image_src
    })
  })`
const Product = Schema.Struct({ record: Schema.String })
const selectProduct = `
  select (${productJson})::varchar as record
  from storefront.product p
  where rowid = $row_number and product_id = $id`

const openProducts = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  yield* db.run(createLookup)
  /** A listed product with its images and variants, as JSON. */
  return Effect.fnUntraced(function* (id: string) {
    for (const { row_number } of yield* db.all(RowNumber, selectRowNumbers, { id })) {
      const [product] = yield* db.all(Product, selectProduct, { row_number: Number(row_number), id })
      if (product !== undefined) return product.record
    }
    return undefined
  })
})

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
  const loadedStores = yield* loadStores(db, { products: products.count, collections: collections.count })
  const readProduct = yield* openProducts(db)
  return { loadedStores, products, collections, readProduct }
})

/** Without the stores' last reads. */
export type StorefrontData = Effect.Success<ReturnType<typeof loadStorefronts>>

export interface Storefronts extends Omit<StorefrontData, "loadedStores"> {
  readonly stores: Stores
}

/** Adds the stores' last reads, which change even if the data does not. */
export const withLastReads = ({ loadedStores, ...data }: StorefrontData, ingest: DuckDb["Service"]) =>
  Effect.map(
    loadLastReads(ingest),
    (lastReads): Storefronts => ({ ...data, stores: makeStores(loadedStores, lastReads) })
  )
