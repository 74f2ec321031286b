/**
 * Stores, products and collections as the API returns them. Each store has its own feed, and feeds differ in what they
 * state. A field that the feed does not state is null, never a guess, "" or 0.
 */
import { Schema } from "effect"
import { Timestamp } from "../dates.ts"
import { idOf } from "../ids.ts"

const described = (description: string) => Schema.String.annotate({ description })
const textOrNull = (description: string) => Schema.NullOr(Schema.String).annotate({ description })
const numberOrNull = (description: string) => Schema.NullOr(Schema.Finite).annotate({ description })
const count = (description: string) => Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description })
const momentOrNull = (description: string) => Schema.NullOr(Timestamp).annotate({ description })

const source = Schema.Literal("platform").annotate({
  description: "Always `platform`: the data of a store's own feed."
})
const category = described(
  "Snake_case token from the top level of the Google product taxonomy; `uncategorized` where nothing is known."
)
const currency = (description: string) =>
  Schema.NullOr(Schema.String).annotate({ description: `ISO 4217 currency ${description}`, examples: ["USD"] })

export const Image = Schema.Struct({
  src: described("Address of the picture."),
  width: Schema.NullOr(Schema.Int).annotate({ description: "Width in pixels; null where the feed states none." }),
  height: Schema.NullOr(Schema.Int).annotate({ description: "Height in pixels; null where the feed states none." })
}).annotate({ identifier: "StoreImage", description: "A picture on the store's servers." })

export const PriceRange = Schema.Struct({
  min: numberOrNull("Lowest price of the priced variants; null where none has a price."),
  max: numberOrNull("Highest price of the priced variants; null where none has a price."),
  currency: currency(
    "of the prices: the one that the feed names, else that of the operator's list of stores; null where neither names one."
  )
}).annotate({ identifier: "StorePriceRange", description: "What the product costs, over its priced variants." })

export const ProductSummary = Schema.Struct({
  id: idOf("product").annotate({
    description: "Opaque id; the same after every load. Passed to the product endpoint."
  }),
  title: described("Title of the product."),
  handle: textOrNull("The product's part of its address in the store. May change."),
  vendor: textOrNull("Maker or brand as the store names it."),
  product_type: textOrNull("The store's own word for the kind of product."),
  category,
  sub_category: described(
    "Snake_case token from the second level of that taxonomy, for food and drink from the third, or `food_items` or `beverages` where no more is known; `uncategorized` where nothing is."
  ),
  tags: Schema.Array(Schema.String).annotate({ description: "The store's tags." }),
  image: Schema.NullOr(Image).annotate({ description: "First picture of the gallery; null without pictures." }),
  price: PriceRange,
  variant_count: count("Number of variants."),
  published_at: momentOrNull("When the store published the product, in UTC."),
  source
}).annotate({ identifier: "StoreProductSummary", description: "A product as lists show it." })

export const Variant = Schema.Struct({
  id: idOf("variant").annotate({ description: "Opaque id; the same after every load." }),
  title: described("Title of the variant."),
  sku: textOrNull("The store's stock-keeping unit."),
  price: numberOrNull("What it costs now, in the product's currency; null where it has no price."),
  compare_at_price: numberOrNull("The price before a reduction; null unless above `price`."),
  grams: numberOrNull("Weight in g; null where the feed states none, or 0."),
  available: Schema.NullOr(Schema.Boolean).annotate({
    description: "Whether it can be bought now; null where the feed does not say."
  }),
  option1: textOrNull("First option, such as a size; null where there is nothing to choose."),
  option2: textOrNull("Second option."),
  option3: textOrNull("Third option."),
  position: Schema.Int.annotate({ description: "Place among the variants, from 1." }),
  image_src: textOrNull("Address of the variant's own picture.")
}).annotate({ identifier: "StoreVariant", description: "One buyable form of a product." })

export const ProductDetail = Schema.Struct({
  ...ProductSummary.fields,
  store_id: idOf("store").annotate({ description: "The store that sells the product." }),
  body_text: textOrNull("Description of the product as plain text."),
  images: Schema.Array(Image).annotate({ description: "The gallery, in the store's order." }),
  variants: Schema.Array(Variant).annotate({ description: "All variants, by `position`." })
}).annotate({ identifier: "StoreProduct", description: "A product with its gallery and its variants." })

export const Collection = Schema.Struct({
  id: idOf("collection").annotate({ description: "Opaque id; the same after every load." }),
  title: described("Title of the collection."),
  handle: textOrNull("The collection's part of its address in the store. May change."),
  description: textOrNull("Description of the collection."),
  image: Schema.NullOr(Image).annotate({ description: "Picture of the collection; null without one." }),
  product_count: count("Products of the store that were found in the collection, counted, not as the store claims."),
  published_at: momentOrNull("When the store published the collection, in UTC."),
  updated_at: momentOrNull(
    "When the store last changed the collection, in UTC; null where the feed gives the time of its answer instead."
  ),
  source
}).annotate({ identifier: "StoreCollection", description: "A group of products that a store shows together." })

export const CategoryCount = Schema.Struct({
  category,
  product_count: count("Products of the store in the category.")
}).annotate({ identifier: "StoreCategoryCount", description: "How many products of a store are in one category." })

export const fetchStatuses = ["complete", "partial", "failed"] as const
export const FetchStatus = Schema.Literals(fetchStatuses)
export type FetchStatus = typeof FetchStatus.Type

export const Store = Schema.Struct({
  id: idOf("store").annotate({
    description: "Opaque id; the same after every load. Passed to the other store endpoints."
  }),
  name: described("Name of the store."),
  domain: Schema.String.annotate({ description: "Host name of the store.", examples: ["shop.example.com"] }),
  url: described("Address of the store's front page."),
  description: textOrNull("What the store says about itself."),
  country: Schema.NullOr(Schema.String).annotate({
    description:
      "Country of the store as ISO 3166-1 alpha-2 code; null where neither the operator's list of stores nor the store names it.",
    examples: ["US"]
  }),
  currency: currency(
    "that the store's prices are in; null where neither its feed nor the operator's list of stores names a single one."
  ),
  language: Schema.NullOr(Schema.String).annotate({
    description:
      "Language of the texts as BCP 47 tag; null where neither the operator's list of stores nor the store names it.",
    examples: ["en"]
  }),
  category: described("The category with the most products; `uncategorized` where nothing is known."),
  categories: Schema.Array(CategoryCount).annotate({
    description: "The categories of the store's products, with counts."
  }),
  product_count: count("Products that the API serves for the store."),
  collection_count: count("Collections that the API serves for the store."),
  fetch_status: FetchStatus.annotate({
    description:
      "How the last read of the store ended: `complete`, `partial` (some of it could not be read, and nothing was withdrawn for missing there) or `failed` (everything is as the read before left it)."
  }),
  first_seen_at: Timestamp.annotate({ description: "When the store was first asked, in UTC." }),
  fetched_at: momentOrNull("When the rows served now were read, in UTC; null while no read has succeeded."),
  source
}).annotate({ identifier: "Store", description: "A shop on the web whose products the API serves." })
