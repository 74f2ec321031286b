/** Every data set that a warehouse can hold, in the order of lists. */
import { brandedFood } from "./tables/branded_food/data-set.ts"
import { commodity } from "./tables/commodity/data-set.ts"
import { storefront } from "./tables/storefront/data-set.ts"
import type { DataSet } from "./tables/tables.ts"

export const dataSets: ReadonlyArray<DataSet> = [commodity, brandedFood, storefront]

export * from "./read-models/commodity.ts"
export * from "./read-models/storefront.ts"
export * from "./tables/branded_food/data-set.ts"
export * from "./tables/commodity/data-set.ts"
export * from "./tables/storefront/data-set.ts"
