/**
 * Ids that the API returns: a prefix that names the kind, then an opaque string. They are derived from the source's own
 * data, so that loading the same data again gives the same ids.
 */
import { Schema } from "effect"

export const idPrefixes = {
  brandedFood: "data_branded_food_",
  store: "platform_store_",
  product: "platform_product_",
  collection: "platform_collection_",
  variant: "platform_variant_"
} as const

export type IdKind = keyof typeof idPrefixes

/** An id of one kind. The string after the prefix is opaque: clients must not rely on its format. */
export const idOf = (kind: IdKind) => Schema.String.check(Schema.isStartingWith(idPrefixes[kind]))
