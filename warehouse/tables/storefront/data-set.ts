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
import { lastSeen, reconcileReads } from "../../storefronts/reconcile.ts"
import { type DataSet, defineMacro, defineTable, defineView, inLake, readSql, type View } from "../tables.ts"

export const storeTable = defineTable("storefront", "store", StoreRow, { by: "replace", key: ["store_id"] })
const lastSeenView: View = {
  schema: "storefront",
  name: "last_seen",
  record: LastSeenRow,
  key: ["kind", "id"],
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
    newest: {
      in: "reads",
      table: "ingest.live_store_read",
      day: "(max(read_at) filter (fetch_status <> 'failed'))::date"
    }
  },
  tables: [
    storeTable,
    defineTable("storefront", "product", StoreProductRow, {
      by: "replace",
      key: ["product_id"],
      ignoredColumns: ["source_rows", "fetched_at", "raw_sha256"]
    }),
    defineTable("storefront", "collection", CollectionRow, {
      by: "replace",
      key: ["collection_id"],
      ignoredColumns: ["fetched_at", "raw_sha256"]
    }),
    defineTable("storefront", "sighting", SightingRow, { by: "replace", key: ["kind", "id"] }),
    defineTable(
      "storefront",
      "variant_change",
      VariantChangeRow,
      { by: "append", key: ["variant_id", "seen_at"] },
      "seen_at"
    ),
    defineTable("storefront", "listing", ListingRow, {
      by: "derive",
      key: ["product_id"],
      from: readSql("storefront", "listings_of_stores")
    }),
    defineTable("storefront", "collection_listing", CollectionListingRow, {
      by: "derive",
      key: ["collection_id"],
      from: readSql("storefront", "collection_listings_of_stores")
    })
  ],
  views: [
    inLake(defineView("storefront", "variant", VariantRow, ["variant_id"])),
    defineMacro("storefront", "variant_as_of"),
    defineView("storefront", "product_category", ProductCategoryRow, ["product_id"]),
    defineView("storefront", "collection_product", CollectionProductRow, ["collection_id", "position"])
  ],
  viewsOverIngest: [defineView("storefront", "store_status", StoreStatusRow, ["store_id"]), lastSeenView],
  reconcile: reconcileReads,
  countSourceRows: `
    select (
      (select coalesce(sum(source_rows), 0) from storefront.product) + (select count(*) from storefront.collection)
    )::integer as rows`
}
