/**
 * Tables of the warehouse schema `storefront`. A product or collection keeps its row after its store stops listing it:
 * `sighting` records whether it is listed, and the listings contain only what is listed. A read that finds nothing new
 * changes no row. The read itself is recorded in `ingest.store_read`; `store_status` and `last_seen` are views of these
 * reads. Times are UTC.
 */
import { Schema, Struct } from "effect"
import { described, inUnit, payload, refersTo, transformed } from "../described.ts"
import { Collection, PriceRange, ProductDetail, ProductSummary, ReadOutcome, Store, Variant } from "./records.ts"

const storeId = refersTo("storefront.store.store_id", described.text("Store."))
const productId = refersTo("storefront.product.product_id", described.text("Product."))
const collectionId = refersTo("storefront.collection.collection_id", described.text("Collection."))
const place = transformed(
  "Computed: by publication time, newest first and missing times last, then by id.",
  described.integer("Position in the store's list, from 1.")
)
const imageFields = (image: string) => ({
  image_src: described.textOrNull(`${image}: its address; null if there is none.`),
  image_width: inUnit(
    "pixels",
    described.integerOrNull(`${image}: width in pixels; null if the feed does not state it.`)
  ),
  image_height: inUnit(
    "pixels",
    described.integerOrNull(`${image}: height in pixels; null if the feed does not state it.`)
  )
})
const tagList = described.list("The store's tags; `[]` if there are none.")
const priceFields = {
  price_min: transformed(
    "Computed from the variants.",
    inUnit(
      "`currency`",
      described.numberOrNull("Lowest price of the priced variants, in `currency`; null if none has a price.")
    )
  ),
  price_max: transformed(
    "Computed from the variants.",
    inUnit(
      "`currency`",
      described.numberOrNull("Highest price of the priced variants, in `currency`; null if none has a price.")
    )
  ),
  currency: PriceRange.fields.currency
}
const runFields = {
  run_id: refersTo("ingest.run.run_id", described.text("Run that last changed the row.")),
  raw_sha256: payload("Last payload that changed the row")
}
const fetchedAt = described.text("When the last payload that changed the row was fetched, in UTC.")

/** `pipelines/storefronts/feed-kinds.ts` has the requests and the decoder of each. */
export const storeKinds = ["shopify", "shopify-csv", "google-merchant", "woocommerce"] as const

export const StoreRow = Schema.Struct({
  store_id: Store.fields.id,
  domain: described.text("Host name of the store, from the store list. Ids are derived from it."),
  name: described.text("Name of the store, from the store list."),
  kind: described.oneOf(storeKinds, "Kind of the store's feed."),
  url: Store.fields.url,
  description: Store.fields.description,
  country: transformed(
    "From the store list, otherwise the country in which the store is registered.",
    described.textOrNull(
      "Country as an ISO 3166-1 alpha-2 code; null if neither the store list nor the store states it."
    )
  ),
  currency: transformed(
    "As the responses state it, otherwise from the store list.",
    described.textOrNull(
      "ISO 4217 currency in which the prices were served; null if neither a response nor the store list states it."
    )
  ),
  language: transformed(
    "From the store list, otherwise as the store states it.",
    described.textOrNull(
      "Language of the texts as a BCP 47 tag; null if neither the store list nor the store states it."
    )
  ),
  city: described.textOrNull("City as the store states it."),
  province: described.textOrNull("Province or state as the store states it."),
  platform_shop_id: described.textOrNull("Id of the shop on its platform."),
  myshopify_domain: described.textOrNull("Host name of the shop on Shopify."),
  reported_product_count: described.integerOrNull(
    "Number of published products as the store itself states it; the products that were found are in `storefront.listing`."
  ),
  first_seen_at: described.text("When the store was first read, in UTC."),
  run_id: runFields.run_id
}).annotate({
  identifier: "storefront.store",
  description:
    "One row per store that was ever read, with its latest data from the store list and the reads. A store that is no longer in the store list keeps its rows. How the last read ended is in `storefront.store_status`."
})

export const StoreStatusRow = Schema.Struct({
  store_id: storeId,
  fetch_status: Store.fields.fetch_status,
  ...ReadOutcome.fields,
  read_at: described.text("When the store was last read, successfully or not; in UTC."),
  fetched_at: described.textOrNull("When the store was last read successfully, in UTC; null if never."),
  run_id: refersTo("ingest.run.run_id", described.text("Run of the last read."))
}).annotate({
  identifier: "storefront.store_status",
  description: "One row per store: how its last read ended. All reads are in `ingest.store_read`."
})

/** How the category of a product is found, in the order in which the methods are tried. */
const categoryMethods = ["stated", "product_type", "title", "collection", "store_prior", "none"] as const
export type CategoryMethod = (typeof categoryMethods)[number]

const computedCategory = "Computed from what the feed states, by `category_method`."

export const StoreProductRow = Schema.Struct({
  product_id: ProductDetail.fields.id,
  store_id: storeId,
  native_id: described.text(
    "The feed's own key of the product: the id in Shopify or WooCommerce, the handle in CSV, item_group_id or id in Google feeds."
  ),
  ...Struct.pick(ProductDetail.fields, ["title", "handle", "vendor", "product_type"]),
  category: transformed(computedCategory, ProductDetail.fields.category),
  sub_category: transformed(computedCategory, ProductDetail.fields.sub_category),
  category_method: described.oneOf(
    categoryMethods,
    "Method that decided the category: `stated`, by the category that the feed states; `product_type`, by the store's own word for the kind of product; `title`, by the words of the title; `collection`, by the collections that it is in; `store_prior`, by what the store mostly sells; `none` for uncategorized products."
  ),
  category_confidence: described.number(
    "A fixed number for the kind of evidence, from 0 to 1; 0 for `none`. A method can have several kinds: a stated path counts more than a stated id. It is not the probability that the category is right. It began as the share of right top levels among products of twelve stores that were labelled by hand, and is set lower for evidence that decided few of them. In 61 other stores, `stated` was right for 88 % of the products, `product_type` for 81 % and `title` for 61 %: do not compare methods by it."
  ),
  category_evidence: described.textOrNull("The words that decided the category; null if nothing did."),
  tags: tagList,
  body_text: transformed("Without markup.", ProductDetail.fields.body_text),
  images: described.list(
    "The images in the store's order: address, width and height in pixels; `[]` if there are none."
  ),
  ...priceFields,
  variants: described.list("The variants, by position; also as rows in `storefront.variant`."),
  is_merchandise: described.flag(
    "False for items that are not goods: gift cards, insurance, donations, fees, and other items that are never shipped."
  ),
  published_at: described.textOrNull(
    "When the store published the product, in UTC; null if the feed does not state it."
  ),
  created_at: described.textOrNull("When the store created the product, in UTC; null if the feed does not state it."),
  source_rows: described.integer("Payload rows for the product in the run that last changed it."),
  fetched_at: fetchedAt,
  ...runFields
}).annotate({
  identifier: "storefront.product",
  description:
    "One row per product of a store, as last read. Products that are no longer listed stay: `storefront.sighting` shows whether a product is listed."
})

export const CollectionRow = Schema.Struct({
  collection_id: Collection.fields.id,
  store_id: storeId,
  native_id: described.text("The feed's own key of the collection: the id in Shopify or WooCommerce."),
  ...Struct.pick(Collection.fields, ["title", "handle", "description"]),
  ...imageFields("Image of the collection"),
  published_at: Collection.fields.published_at,
  updated_at: Collection.fields.updated_at,
  product_ids: described.list(
    "Products that were found in it, in the store's order; `[]` if none was. Also as rows in `storefront.collection_product`."
  ),
  fetched_at: fetchedAt,
  ...runFields
}).annotate({
  identifier: "storefront.collection",
  description:
    "One row per collection of a store, as last read. Collections that are no longer listed stay: `storefront.sighting` shows whether a collection is listed."
})

const sightingFields = {
  kind: described.oneOf(["product", "collection"], "What was seen."),
  id: described.text(
    "The product or collection: `storefront.product.product_id` or `storefront.collection.collection_id`."
  ),
  store_id: storeId,
  first_seen_at: described.text("When a read of the store first found it, in UTC.")
}
const isListed = described.flag(
  "Whether the store lists it. False once a complete list lacks it; true again when it is listed again."
)

export const SightingRow = Schema.Struct({
  ...sightingFields,
  listed_since: described.text(
    "Start of its current or last period in the list: the time of the first read that found it in that period, in UTC. Later than `first_seen_at` if it was listed again."
  ),
  is_listed: isListed,
  last_seen_at: described.textOrNull(
    "When it was last seen, in UTC, for an item that is no longer listed; null while it is listed."
  )
}).annotate({
  identifier: "storefront.sighting",
  description:
    "One row per product or collection (`kind`, `id`): whether its store lists it, and since when. A row changes when something is first listed, no longer listed or listed again, but not with every read: `storefront.last_seen` shows when each was last seen. An incomplete list never marks an item as no longer listed, and neither does a rejected row of the item."
})

export const LastSeenRow = Schema.Struct({
  ...sightingFields,
  last_seen_at: described.text(
    "When a read of the store last found it, in UTC. Reads with an incomplete list count only if they found it new, changed or listed again, so the item may have been in the store later than this."
  ),
  is_listed: isListed
}).annotate({
  identifier: "storefront.last_seen",
  description:
    "One row per product or collection (`kind`, `id`): when it was first and last seen, from `storefront.sighting` and the reads in `ingest.live_store_read`."
})

const changes = ["first_seen", "changed", "gone", "back"] as const

export const VariantChangeRow = Schema.Struct({
  variant_id: described.text("Variant: as in `storefront.variant.variant_id`, unless its product no longer has it."),
  product_id: productId,
  store_id: storeId,
  seen_at: described.text(
    "When the read that found the change took place, in UTC: the change happened after the previous read."
  ),
  change: described.oneOf(
    changes,
    "`first_seen`; `changed`: price, price before reduction, currency or availability; `gone`: no longer among the product's variants, or the product no longer listed; `back`: listed again."
  ),
  price: inUnit(
    "`currency`",
    described.numberOrNull("Price from then on, in `currency`; null if it has none, and for `gone`.")
  ),
  compare_at_price: inUnit(
    "`currency`",
    described.numberOrNull(
      "Price before a reduction, from then on, in `currency`; null if there is none, and for `gone`."
    )
  ),
  currency: described.textOrNull("ISO 4217 currency of the prices from then on; null if unknown, and for `gone`."),
  available: Variant.fields.available.annotate({
    description: "Whether it could be bought from then on; null if the feed does not state it, and for `gone`."
  })
}).annotate({
  identifier: "storefront.variant_change",
  description: "One row per variant and read (`seen_at`) that found it new, changed, no longer listed or listed again."
})

export const ListingRow = Schema.Struct({
  store_id: storeId,
  place,
  product_id: productId,
  ...Struct.pick(ProductSummary.fields, ["title", "handle", "vendor", "product_type"]),
  ...Struct.pick(StoreProductRow.fields, ["category", "sub_category"]),
  tags: tagList,
  ...imageFields("First image"),
  ...priceFields,
  variant_count: transformed("Counted.", ProductSummary.fields.variant_count),
  published_at: StoreProductRow.fields.published_at
}).annotate({
  identifier: "storefront.listing",
  description: "One row per product that its store lists now, in the order in which the API returns them."
})

export const CollectionListingRow = Schema.Struct({
  store_id: storeId,
  place,
  collection_id: collectionId,
  ...Struct.pick(Collection.fields, ["title", "handle", "description"]),
  ...Struct.pick(CollectionRow.fields, ["image_src", "image_width", "image_height"]),
  product_count: transformed(
    "Counted.",
    described.integer("Number of listed products of the store that were found in the collection, each counted once.")
  ),
  published_at: Collection.fields.published_at,
  updated_at: Collection.fields.updated_at
}).annotate({
  identifier: "storefront.collection_listing",
  description: "One row per collection that its store lists now, in the order in which the API returns them."
})

export const VariantRow = Schema.Struct({
  variant_id: Variant.fields.id,
  product_id: productId,
  store_id: storeId,
  native_id: described.text("The feed's own key of the variant."),
  title: Variant.fields.title,
  sku: Variant.fields.sku,
  barcode: described.textOrNull(
    "Barcode as the feed states it, without a check; null if it states none, or a number that a spreadsheet abbreviated."
  ),
  price: transformed(
    "A lower sale price of a feed is the price.",
    inUnit("`currency`", described.numberOrNull("What it costs now, in `currency`; null if it has no price."))
  ),
  compare_at_price: inUnit(
    "`currency`",
    described.numberOrNull("The price before a reduction, in `currency`; null unless above `price`.")
  ),
  currency: described.textOrNull("ISO 4217 currency of the variant's prices; null if unknown."),
  grams: transformed(
    "Converted from the unit of the feed; 0 becomes null.",
    inUnit(
      "g",
      described.numberOrNull(
        "Weight by which shipping is charged, in g; null if the feed states none, 0, or one that is not understood. It is not the net content: it often includes the packaging, and sellers set it freely."
      )
    )
  ),
  ...Struct.pick(Variant.fields, ["available", "option1", "option2", "option3", "position", "image_src"]),
  requires_shipping: described.flagOrNull(
    "Whether it is shipped; null if the feed does not state it, or in words that are not understood."
  )
}).annotate({
  identifier: "storefront.variant",
  description:
    "One row per variant of a row of `storefront.product`, including variants of products that are no longer listed."
})

export const ProductCategoryRow = Schema.Struct({
  product_id: productId,
  category: StoreProductRow.fields.category,
  sub_category: StoreProductRow.fields.sub_category,
  method: StoreProductRow.fields.category_method,
  confidence: StoreProductRow.fields.category_confidence,
  evidence: StoreProductRow.fields.category_evidence
}).annotate({
  identifier: "storefront.product_category",
  description:
    "One row per product: its category, and how that was decided. Methods that read what the store states are tried before those that guess."
})

export const CollectionProductRow = Schema.Struct({
  collection_id: collectionId,
  product_id: productId,
  position: described.integer("Position of the product in the collection, from 1, in the store's order.")
}).annotate({
  identifier: "storefront.collection_product",
  description:
    "One row per collection and position: a product that was found in it, including products that are no longer listed."
})
