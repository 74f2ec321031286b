/** What a key may be allowed to call. Each endpoint needs exactly one scope. */
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
