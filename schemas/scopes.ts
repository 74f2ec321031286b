/** The scopes that a key can have. Each endpoint requires exactly one. */
import { Schema } from "effect"

export const scopes = [
  "search-commodities",
  "get-commodity-prices",
  "search-branded-foods",
  "get-branded-foods",
  "search-stores",
  "get-store",
  "get-store-products",
  "get-store-collections",
  "get-product"
] as const

export const Scope = Schema.Literals(scopes)
export type Scope = typeof Scope.Type
