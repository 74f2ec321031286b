/** Every data set that a warehouse can hold, in the order of lists. */
import type { CommodityModel } from "./read-models/commodity.ts"
import type { StorefrontData } from "./read-models/storefront.ts"
import type { Foods } from "./search/open.ts"
import { brandedFood } from "./tables/branded_food/data-set.ts"
import { commodity } from "./tables/commodity/data-set.ts"
import { storefront } from "./tables/storefront/data-set.ts"
import type { DataSet } from "./tables/tables.ts"

export const dataSets: ReadonlyArray<DataSet> = [commodity, brandedFood, storefront]

/** What a server keeps of each data set that it has loaded, by pipeline. */
export interface LoadedDataSets {
  readonly commodities: CommodityModel
  readonly "branded-foods": Foods
  readonly storefronts: StorefrontData
}

export * from "./read-models/commodity.ts"
export { loadStorefronts, type Storefronts, withLastReads } from "./read-models/storefront.ts"
export * from "./tables/branded_food/data-set.ts"
export * from "./tables/commodity/data-set.ts"
export * from "./tables/storefront/data-set.ts"
