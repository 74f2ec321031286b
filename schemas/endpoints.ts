/** The only list of endpoints. Routes, documents and tools are derived from it. */
import { getBrandedFood, getBrandedFoodCategories, searchBrandedFoods } from "./branded-food/endpoints.ts"
import { getCommodityMetricValues, getCommodityPrices, searchCommodities } from "./commodity/endpoints.ts"
import type { Endpoint } from "./endpoint.ts"
import { getProduct, getStore, getStoreCollections, getStoreProducts, searchStores } from "./storefront/endpoints.ts"

export const endpoints: ReadonlyArray<Endpoint> = [
  searchCommodities,
  getCommodityPrices,
  getCommodityMetricValues,
  searchBrandedFoods,
  getBrandedFoodCategories,
  getBrandedFood,
  searchStores,
  getStore,
  getStoreProducts,
  getStoreCollections,
  getProduct
]
