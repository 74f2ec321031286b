/**
 * The data sets of the API, in the order of documents and pages. Endpoints, scopes, tags and the client's types are
 * derived from this list.
 */
import { brandedFoods } from "./branded-food/data-set.ts"
import { commodities } from "./commodity/data-set.ts"
import { storefronts } from "./storefront/data-set.ts"

export const dataSets = [commodities, brandedFoods, storefronts] as const

/** The declarations of all endpoints, by the names of their operations. */
export type Declared = typeof import("./commodity/endpoints.ts") &
  typeof import("./branded-food/endpoints.ts") &
  typeof import("./storefront/endpoints.ts")

export type DataSetTag = (typeof dataSets)[number]["tag"]

export * from "./branded-food/endpoints.ts"
export * from "./branded-food/id.ts"
export * from "./branded-food/records.ts"
export * from "./branded-food/tables.ts"
export * from "./commodity/endpoints.ts"
export * from "./commodity/records.ts"
export * from "./commodity/tables.ts"
export * from "./storefront/endpoints.ts"
export * from "./storefront/records.ts"
export * from "./storefront/tables.ts"
