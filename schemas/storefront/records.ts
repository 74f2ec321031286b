/**
 * Stores, products and collections as the API returns them. Each store has its own feed, and feeds differ in what they
 * state. A field that the feed does not state is null, never a guess, "" or 0.
 */
import { Schema } from "effect"
import { Timestamp } from "../dates.ts"
import { described } from "../described.ts"
import { idOf } from "../ids.ts"

const count = (description: string) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description })

const source = Schema.Literal("platform").annotate({
  description: "Always `platform`: the data of a store's own feed."
})
const category = described.text(
  "Snake_case token from the top level of the Google product taxonomy; `uncategorized` if nothing is known."
)
const currency = (description: string) => described.textOrNull(`ISO 4217 currency ${description}`, "USD")

export const Image = Schema.Struct({
  src: described.text("Address of the picture."),
  width: described.integerOrNull("Width in pixels; null if the feed states none."),
  height: described.integerOrNull("Height in pixels; null if the feed states none.")
}).annotate({ identifier: "StoreImage", description: "A picture on the store's servers." })

export const PriceRange = Schema.Struct({
  min: described.numberOrNull("Lowest price of the priced variants; null if none has a price."),
  max: described.numberOrNull("Highest price of the priced variants; null if none has a price."),
  currency: currency(
    "of the prices: from the feed, otherwise from the operator's list of stores; null if neither states one."
  )
}).annotate({
  identifier: "StorePriceRange",
  description: "The lowest and the highest price of the product's variants."
})

export const ProductSummary = Schema.Struct({
  id: idOf("product").annotate({
    description: "Opaque id; the same after every load. Pass it to the product endpoint."
  }),
  title: described.text("Title of the product."),
  handle: described.textOrNull("The product's part of its address in the store. May change."),
  vendor: described.textOrNull("Maker or brand as the store states it."),
  product_type: described.textOrNull("The store's own word for the kind of product."),
  category,
  sub_category: described.text(
    "Snake_case token from the second level of that taxonomy, for food and drink from the third, or `food_items` or `beverages` if no more is known; `uncategorized` if nothing is."
  ),
  tags: Schema.Array(Schema.String).annotate({ description: "The store's tags." }),
  image: Schema.NullOr(Image).annotate({ description: "The first image; null if there are none." }),
  price: PriceRange,
  variant_count: count("Number of variants."),
  published_at: described.timeOrNull("When the store published the product, in UTC."),
  source
}).annotate({ identifier: "StoreProductSummary", description: "A product as lists show it." })

export const Variant = Schema.Struct({
  id: idOf("variant").annotate({ description: "Opaque id; the same after every load." }),
  title: described.text("Title of the variant."),
  sku: described.textOrNull("The store's stock-keeping unit."),
  price: described.numberOrNull("What it costs now, in the product's currency; null if it has no price."),
  compare_at_price: described.numberOrNull("The price before a reduction; null unless above `price`."),
  grams: described.numberOrNull("Weight in g; null if the feed states none, 0, or one that is not understood."),
  available: described.flagOrNull(
    "Whether it can be bought now; null if the feed does not state it, or in words that are not understood."
  ),
  option1: described.textOrNull("First option, such as a size; null if there is nothing to choose."),
  option2: described.textOrNull("Second option."),
  option3: described.textOrNull("Third option."),
  position: described.integer("Position among the variants, from 1."),
  image_src: described.textOrNull("Address of the variant's own picture.")
}).annotate({ identifier: "StoreVariant", description: "One buyable form of a product." })

export const ProductDetail = Schema.Struct({
  ...ProductSummary.fields,
  store_id: idOf("store").annotate({ description: "The store that sells the product." }),
  body_text: described.textOrNull("Description of the product as plain text."),
  images: Schema.Array(Image).annotate({ description: "All images, in the store's order." }),
  variants: Schema.Array(Variant).annotate({ description: "All variants, by `position`." })
}).annotate({ identifier: "StoreProduct", description: "A product with its images and its variants." })

export const Collection = Schema.Struct({
  id: idOf("collection").annotate({ description: "Opaque id; the same after every load." }),
  title: described.text("Title of the collection."),
  handle: described.textOrNull("The collection's part of its address in the store. May change."),
  description: described.textOrNull("Description of the collection."),
  image: Schema.NullOr(Image).annotate({ description: "Picture of the collection; null if it has none." }),
  product_count: count(
    "Number of the store's products that were found in the collection; not the number that the store states."
  ),
  published_at: described.timeOrNull("When the store published the collection, in UTC."),
  updated_at: described.timeOrNull(
    "When the store last changed the collection, in UTC; null if the feed states the time of its response instead."
  ),
  source
}).annotate({ identifier: "StoreCollection", description: "A group of products that a store shows together." })

const CategoryCount = Schema.Struct({
  category,
  product_count: count("Number of the store's products in the category.")
}).annotate({ identifier: "StoreCategoryCount", description: "How many products of a store are in one category." })

export const FetchStatus = Schema.Literals(["complete", "partial", "failed"])
export type FetchStatus = typeof FetchStatus.Type

/** How a read of a store ended; columns of `ingest.store_read` and `storefront.store_status`. */
export const ReadOutcome = Schema.Struct({
  outcome: described.text(
    "How the read ended, in more detail than `fetch_status`: for example throttled, blocked, window or rejected (everything was read, but too many products were rejected)."
  ),
  outcome_detail: described.textOrNull("What stopped the read, in words; null if nothing did.")
})

export const Store = Schema.Struct({
  id: idOf("store").annotate({
    description: "Opaque id; the same after every load. Pass it to the other store endpoints."
  }),
  name: described.text("Name of the store."),
  domain: described.text("Host name of the store.", "shop.example.com"),
  url: described.text("Address of the store's front page."),
  description: described.textOrNull("The store's description of itself."),
  country: described.textOrNull(
    "Country of the store as an ISO 3166-1 alpha-2 code; null if neither the operator's list of stores nor the store states it.",
    "US"
  ),
  currency: currency(
    "of the store's prices; null if neither its feed nor the operator's list of stores states a single one."
  ),
  language: described.textOrNull(
    "Language of the texts as a BCP 47 tag; null if neither the operator's list of stores nor the store states it.",
    "en"
  ),
  category: described.text("The category with the most products; `uncategorized` if nothing is known."),
  categories: Schema.Array(CategoryCount).annotate({
    description: "The categories of the store's products, with counts."
  }),
  product_count: count("Number of products that the API serves for the store."),
  collection_count: count("Number of collections that the API serves for the store."),
  fetch_status: FetchStatus.annotate({
    description:
      "How the last read of the store ended: `complete`, `partial` (some of the store could not be read; missing products are withdrawn only if the whole product list was read) or `failed` (all rows stay unchanged)."
  }),
  first_seen_at: Timestamp.annotate({ description: "When the store was first read, in UTC." }),
  fetched_at: described.timeOrNull("When the rows served now were read, in UTC; null if no read has succeeded yet."),
  source
}).annotate({ identifier: "Store", description: "A shop on the web whose products the API serves." })
