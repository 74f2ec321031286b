/**
 * The data sets of the API, in the order of documents and pages. Endpoints, scopes, tags and the client's types are
 * derived from this list.
 */
import { Schema } from "effect"
import { brandedFoods } from "./branded-food/endpoints.ts"
import { commodities } from "./commodity/endpoints.ts"
import type { Endpoint } from "./endpoint.ts"
import type { Parameters } from "./parameters.ts"
import { storefronts } from "./storefront/endpoints.ts"

export const dataSets = [commodities, brandedFoods, storefronts] as const

/** The declarations of all endpoints, by the names of their operations. */
export type Declared = typeof import("./commodity/endpoints.ts") &
  typeof import("./branded-food/endpoints.ts") &
  typeof import("./storefront/endpoints.ts")

export type DataSetTag = (typeof dataSets)[number]["tag"]

/** A scope that a key can have. Each endpoint requires exactly one. */
export type Scope = (typeof dataSets)[number]["endpoints"][number]["scope"]

/** An endpoint with the scope and the tag of a data set. */
export type ServedEndpoint<P extends Parameters = Parameters> = Endpoint<P, Schema.Constraint, Scope, DataSetTag>
export const endpoints: ReadonlyArray<ServedEndpoint> = dataSets.flatMap(
  (dataSet): ReadonlyArray<ServedEndpoint> => dataSet.endpoints
)

const [{ scope: firstScope }] = commodities.endpoints // apart, because the type needs at least one scope
const otherScopes = endpoints.map(({ scope }) => scope).filter((scope) => scope !== firstScope)
export const scopes: readonly [Scope, ...Array<Scope>] = [firstScope, ...new Set(otherScopes)]
export const Scope = Schema.Literals(scopes)
export const isScope = Schema.is(Scope)

export { getBrandedFood, getBrandedFoodCategories, searchBrandedFoods } from "./branded-food/endpoints.ts"
export * from "./branded-food/id.ts"
export { BrandedFood, FoodCategory, Nutrition } from "./branded-food/records.ts"
export * from "./branded-food/tables.ts"
export {
  getCommodityMetricValues,
  getCommodityPrices,
  pagedParameters,
  searchCommodities,
  unknownMetrics,
  unknownSeries
} from "./commodity/endpoints.ts"
export {
  CommodityProduct,
  Frequency,
  Licence,
  licences,
  Metric,
  type RevisionStatus,
  revisionStatuses,
  Series
} from "./commodity/records.ts"
export { findScheduleFault, Printed, scheduleForms } from "./commodity/schedule.ts"
export * from "./commodity/tables.ts"
export { Unit, units } from "./commodity/units.ts"
export {
  getProduct,
  getStore,
  getStoreCollections,
  getStoreProducts,
  searchStores
} from "./storefront/endpoints.ts"
export { Store } from "./storefront/records.ts"
export * from "./storefront/tables.ts"
