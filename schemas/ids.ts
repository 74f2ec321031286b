/**
 * Ids that the API gives out: a prefix that names the kind, then an opaque text. They are derived from what the source
 * says, so that loading the same thing again gives the same id.
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

/** An id of one kind. What follows the prefix is opaque and promises nothing. */
export const idOf = (kind: IdKind) => Schema.String.check(Schema.isStartingWith(idPrefixes[kind]))
