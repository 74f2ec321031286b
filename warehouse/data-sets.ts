/** Every data set that a warehouse can hold, in the order of lists. */
import { brandedFood } from "./tables/branded_food/data-set.ts"
import { commodity } from "./tables/commodity/data-set.ts"
import { storefront } from "./tables/storefront/data-set.ts"
import type { DataSet } from "./tables/tables.ts"

export const dataSets: ReadonlyArray<DataSet> = [commodity, brandedFood, storefront]
