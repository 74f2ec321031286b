/**
 * The kinds of feeds: the requests to a store, the decoder, and the fields whose loss is detected. A new kind is one entry
 * here, its decoder, and its name in `storeKinds` of `schemas/storefront/tables.ts`.
 */
import type { Effect } from "effect"
import { exportColumns } from "./decode/csv/shopify-columns.ts"
import { readShopifyCsv } from "./decode/csv/shopify-csv.ts"
import type { ReadFile } from "./decode/feed.ts"
import { googleRoles, type Role, shopifyCsvRoles, shopifyRoles, wooCommerceRoles } from "./decode/field-roles.ts"
import { readGoogleMerchant } from "./decode/google/google-merchant.ts"
import { readFeedFile } from "./source/crawl/feed-file.ts"
import type { StorePolicy } from "./source/crawl/policy.ts"
import type { KnownProducts } from "./source/crawl/product-list.ts"
import type { LocalFault, RequestNeeds } from "./source/crawl/requests.ts"
import { readShopify } from "./source/crawl/shopify.ts"
import type { StoreRead, TakeRows } from "./source/crawl/store-read.ts"
import { readWooCommerce } from "./source/crawl/woocommerce.ts"
import type { ListedStore } from "./source/store-list.ts"
import type { ComparedField } from "./stage/compared-fields.ts"

interface FeedField {
  /** As the decoder passes them to `FeedStats.recordField`; in a message, `a or b`. */
  readonly names: ReadonlyArray<string>
  readonly isOptional: boolean
}

interface FeedKind {
  /** Sends the requests, decodes the responses, and passes the rows to `take`. */
  readonly read: <E, R>(
    store: ListedStore,
    take: TakeRows<E, R>,
    policy: StorePolicy,
    known: KnownProducts<E, R>
  ) => Effect.Effect<StoreRead, E | LocalFault, R | RequestNeeds>
  /** In a file, rows with the same product id are variants of one product; in a shop's pages they repeat it. */
  readonly isFile: boolean
  /** Items contain a field only if it has a value. */
  readonly omitsEmptyFields?: true
  /** The fields that are compared with the last read. If one that had values is lost, its role decides what follows. */
  readonly fields: Partial<Readonly<Record<ComparedField, FeedField>>>
}

/** Makes fields from columns. One column with a key or a substance makes the field needed. */
const makeFields =
  <Column extends string>(
    roles: Readonly<Record<Column, Role>>,
    namesOf: (column: Column) => ReadonlyArray<string> = (column) => [column]
  ) =>
  (...columns: ReadonlyArray<Column>): FeedField => ({
    names: columns.flatMap(namesOf),
    isOptional: columns.every((column) => roles[column] === "optional")
  })
const productField = makeFields(shopifyRoles.product)
const variantField = makeFields(shopifyRoles.variant, (name) => [`variant ${name}`])
const wooField = makeFields(wooCommerceRoles.product)
const csvField = makeFields(shopifyCsvRoles, (column) => exportColumns[column])
const googleField = makeFields(googleRoles)

/** One request, for a file of any size. Each `required` field must occur in some row. */
const makeFileReader =
  (decode: ReadFile, required: ReadonlyArray<string> = []): FeedKind["read"] =>
  (store, take, policy) =>
    readFeedFile(store, { decode, required }, take, policy)

export const feedKinds: Readonly<Record<ListedStore["kind"], FeedKind>> = {
  // meta.json, the pages of products.json and collections.json, and the members of each collection
  shopify: {
    read: readShopify,
    isFile: false,
    fields: {
      vendor: productField("vendor"),
      product_type: productField("product_type"),
      tags: productField("tags"),
      body_text: productField("body_html"),
      images: productField("images"),
      published_at: productField("published_at"),
      sku: variantField("sku"),
      compare_at_price: variantField("compare_at_price"),
      grams: variantField("grams"),
      available: variantField("available"),
      options: variantField("option1"),
      requires_shipping: variantField("requires_shipping")
    }
  },
  // the pages of wp-json/wc/store/v1/products
  woocommerce: {
    read: readWooCommerce,
    isFile: false,
    fields: {
      vendor: wooField("brands"),
      product_type: wooField("categories"),
      tags: wooField("tags"),
      body_text: wooField("description", "short_description"),
      images: wooField("images"),
      sku: wooField("sku"),
      compare_at_price: wooField("regular_price"),
      available: wooField("is_in_stock")
    }
  },
  // a product export
  "shopify-csv": {
    read: makeFileReader(readShopifyCsv), // the header of an export shows whether its columns are there
    isFile: true,
    fields: {
      vendor: csvField("vendor"),
      product_type: csvField("type"),
      tags: csvField("tags"),
      body_text: csvField("body"),
      images: csvField("image"),
      sku: csvField("sku"),
      barcode: csvField("barcode"),
      compare_at_price: csvField("compareAt"),
      grams: csvField("grams"),
      available: csvField("quantity", "policy", "tracker"),
      options: csvField("option1"),
      requires_shipping: csvField("requiresShipping")
    }
  },
  // a feed for Google Merchant Center: RSS, Atom, TSV or CSV
  "google-merchant": {
    read: makeFileReader(readGoogleMerchant, ["price"]),
    isFile: true,
    omitsEmptyFields: true,
    fields: {
      vendor: googleField("brand"),
      product_type: googleField("product_type", "category"),
      body_text: googleField("description", "summary", "content"),
      images: googleField("image_link", "additional_image_link"),
      barcode: googleField("gtin"),
      grams: googleField("shipping_weight"),
      available: googleField("availability"),
      options: googleField("size", "color"),
      groups: googleField("item_group_id")
    }
  }
}
