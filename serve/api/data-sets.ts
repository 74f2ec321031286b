/** The data sets that are served: how each is loaded from its database, and the routes that answer from it. */
import type { Licence } from "@larder/schemas/commodity/records.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import type { LiveData } from "@larder/warehouse/live/live.ts"
import { openServedFoods } from "@larder/warehouse/live/sidecar-files.ts"
import { loadCommodities } from "@larder/warehouse/read-models/commodity.ts"
import { loadStorefronts } from "@larder/warehouse/read-models/storefront.ts"
import { brandedFood } from "@larder/warehouse/tables/branded_food/data-set.ts"
import { commodity } from "@larder/warehouse/tables/commodity/data-set.ts"
import { storefront } from "@larder/warehouse/tables/storefront/data-set.ts"
import type { Effect } from "effect"
import type { Route } from "./route.ts"
import { brandedFoodRoutes } from "./routes/branded-foods.ts"
import { commodityRoutes } from "./routes/commodities.ts"
import { storefrontRoutes } from "./routes/storefronts.ts"

/** By pipeline. What a loader opens closes with the data set. */
export const loaders = (layout: Layout, withheldLicences: ReadonlyArray<Licence>) => ({
  commodities: { of: commodity, load: ({ db }: LiveData) => loadCommodities(db, withheldLicences) },
  "branded-foods": { of: brandedFood, load: ({ db, entry }: LiveData) => openServedFoods(layout, entry, db) },
  storefronts: { of: storefront, load: ({ db }: LiveData) => loadStorefronts(db) }
})

type Loaders = ReturnType<typeof loaders>
/** The loaded data of each data set, by pipeline. */
export type Loaded = { readonly [P in keyof Loaders]: Effect.Success<ReturnType<Loaders[P]["load"]>> }

export const dataSetRoutes: ReadonlyArray<Route> = [...commodityRoutes, ...brandedFoodRoutes, ...storefrontRoutes]
