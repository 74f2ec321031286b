/**
 * Where each endpoint is. The list of endpoints itself would bring the server's schemas into the browser; so its names are
 * held to be the same by the compiler here, and its paths and page sizes by a test.
 */
import type { OperationId } from "./records.ts"

export const paths = {
  searchCommodities: "/v1/commodities",
  getCommodityPrices: "/v1/commodities/prices",
  getCommodityMetricValues: "/v1/commodities/metric-values",
  searchBrandedFoods: "/v1/branded-foods",
  getBrandedFoodCategories: "/v1/branded-foods/categories",
  getBrandedFood: "/v1/branded-foods/:id",
  searchStores: "/v1/stores",
  getStore: "/v1/stores/:id",
  getStoreProducts: "/v1/stores/:id/products",
  getStoreCollections: "/v1/stores/:id/collections",
  getProduct: "/v1/products/:id"
} as const satisfies Readonly<Record<OperationId, `/v1/${string}`>>

/** The most rows that a page may have. A page costs the same whatever it holds, so walks ask for these. */
export const largestPages = {
  searchCommodities: 500,
  searchBrandedFoods: 200,
  searchStores: 200,
  getStoreProducts: 200,
  getStoreCollections: 200
} as const satisfies Readonly<Partial<Record<OperationId, number>>>
