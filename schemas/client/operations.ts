/**
 * The path of each endpoint. Importing the list of endpoints would bring the server's schemas into the browser. So the
 * names are repeated here, where the compiler checks them; a test checks the paths and page sizes.
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

/** The maximum number of rows of a page. A page costs the same whatever its size, so walks over all pages use these. */
export const largestPages = {
  searchCommodities: 500,
  searchBrandedFoods: 200,
  searchStores: 200,
  getStoreProducts: 200,
  getStoreCollections: 200
} as const satisfies Readonly<Partial<Record<OperationId, number>>>
