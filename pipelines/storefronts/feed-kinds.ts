/**
 * The kinds of feeds: the requests to a store, the decoder, and the names of optional fields. A new kind is one entry
 * here, its decoder, and its name in `storeKinds` of `schemas/storefront/tables.ts`.
 */
import type { Effect } from "effect"
import { exportColumns, readShopifyCsv } from "./decode/csv/shopify-csv.ts"
import type { ReadFile } from "./decode/feed.ts"
import { readGoogleMerchant } from "./decode/google/google-merchant.ts"
import { readFeedFile } from "./source/crawl/feed-file.ts"
import type { StorePolicy } from "./source/crawl/policy.ts"
import type { KnownProducts } from "./source/crawl/product-list.ts"
import type { LocalFault, RequestNeeds } from "./source/crawl/requests.ts"
import { readShopify } from "./source/crawl/shopify.ts"
import type { StoreRead, TakeRows } from "./source/crawl/store-read.ts"
import { readWooCommerce } from "./source/crawl/woocommerce.ts"
import type { ListedStore } from "./source/store-list.ts"
import type { OptionalField } from "./stage/optional-fields.ts"

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
  /**
   * Names of optional fields, as the decoder passes them to `FeedStats.recordField`. A field without names is not
   * checked.
   */
  readonly fields: Partial<Readonly<Record<OptionalField, ReadonlyArray<string>>>>
}

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
      vendor: ["vendor"],
      product_type: ["product_type"],
      tags: ["tags"],
      body_text: ["body_html"],
      images: ["images"],
      published_at: ["published_at"],
      sku: ["variant sku"],
      compare_at_price: ["variant compare_at_price"],
      grams: ["variant grams"],
      available: ["variant available"],
      options: ["variant option1"],
      requires_shipping: ["variant requires_shipping"]
    }
  },
  // the pages of wp-json/wc/store/v1/products
  woocommerce: {
    read: readWooCommerce,
    isFile: false,
    fields: {
      vendor: ["brands"],
      product_type: ["categories"],
      tags: ["tags"],
      body_text: ["description", "short_description"],
      images: ["images"],
      sku: ["sku"],
      compare_at_price: ["regular_price"],
      available: ["is_in_stock"]
    }
  },
  // a product export
  "shopify-csv": {
    read: makeFileReader(readShopifyCsv), // the header of an export shows whether its columns are there
    isFile: true,
    fields: {
      vendor: exportColumns.vendor,
      product_type: exportColumns.type,
      tags: exportColumns.tags,
      body_text: exportColumns.body,
      images: exportColumns.image,
      sku: exportColumns.sku,
      barcode: exportColumns.barcode,
      compare_at_price: exportColumns.compareAt,
      grams: exportColumns.grams,
      available: [...exportColumns.quantity, ...exportColumns.policy, ...exportColumns.tracker],
      options: exportColumns.option1,
      requires_shipping: exportColumns.requiresShipping
    }
  },
  // a feed for Google Merchant Center: RSS, Atom, TSV or CSV
  "google-merchant": {
    read: makeFileReader(readGoogleMerchant, ["price"]),
    isFile: true,
    omitsEmptyFields: true,
    fields: {
      vendor: ["brand"],
      product_type: ["product_type", "category"],
      body_text: ["description", "summary", "content"],
      images: ["image_link", "additional_image_link"],
      barcode: ["gtin"],
      grams: ["shipping_weight"],
      available: ["availability"],
      options: ["size", "color"],
      groups: ["item_group_id"]
    }
  }
}
