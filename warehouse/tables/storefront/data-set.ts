/** Stores, their products and collections, as far as they have been read. */
import {
  CollectionListingRow,
  CollectionProductRow,
  CollectionRow,
  LastSeenRow,
  ListingRow,
  ProductCategoryRow,
  SightingRow,
  StoreProductRow,
  StoreRow,
  StoreStatusRow,
  VariantChangeRow,
  VariantRow
} from "@larder/schemas"
import { lastSeen } from "../../storefronts/last-seen.ts"
import { reconcileReads } from "../../storefronts/reconcile.ts"
import { type DataSet, sqlOf, table, type View, view } from "../tables.ts"

export const storeTable = table("storefront", "store", StoreRow, { by: "replacing", key: ["store_id"] })
const lastSeenView: View = {
  schema: "storefront",
  name: "last_seen",
  record: LastSeenRow,
  ddl: `create or replace view storefront.last_seen as ${lastSeen({
    known: (name) => `storefront.${name}`,
    knownReads: (name) => `ingest.live_${name}`
  })}`
}

export const storefront: DataSet = {
  schema: "storefront",
  version: 1,
  about: {
    pipeline: "storefronts",
    title: "Storefronts",
    description: "Products of online stores, from their public feeds.",
    licence: "Texts, pictures and prices are the stores'; their terms apply.",
    attribution: "Each store, by its name and domain in `storefront.store`",
    source_url: null,
    newest: { table: "ingest.live_store_read", day: "(max(read_at) filter (fetch_status <> 'failed'))::date" },
    late_after_days: 2
  },
  tables: [
    storeTable,
    table("storefront", "product", StoreProductRow, {
      by: "replacing",
      key: ["product_id"],
      ignoring: ["source_rows", "fetched_at", "raw_sha256"]
    }),
    table("storefront", "collection", CollectionRow, {
      by: "replacing",
      key: ["collection_id"],
      ignoring: ["fetched_at", "raw_sha256"]
    }),
    table("storefront", "sighting", SightingRow, { by: "replacing", key: ["kind", "id"] }),
    table(
      "storefront",
      "variant_change",
      VariantChangeRow,
      { by: "adding", key: ["variant_id", "seen_at"] },
      "seen_at"
    ),
    table("storefront", "listing", ListingRow, { by: "deriving", from: sqlOf("storefront", "listings_of_stores") }),
    table("storefront", "collection_listing", CollectionListingRow, {
      by: "deriving",
      from: sqlOf("storefront", "collection_listings_of_stores")
    })
  ],
  views: [
    view("storefront", "variant", VariantRow),
    view("storefront", "product_category", ProductCategoryRow),
    view("storefront", "collection_product", CollectionProductRow)
  ],
  viewsOverIngest: [view("storefront", "store_status", StoreStatusRow), lastSeenView],
  reconcile: reconcileReads,
  countStatedRows: `
    select (
      (select coalesce(sum(source_rows), 0) from storefront.product) + (select count(*) from storefront.collection)
    )::integer as rows`
}
