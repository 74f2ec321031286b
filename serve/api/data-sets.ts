/** The data sets that are served: how each is loaded from its database, and its routes. */
import { endpoints, type Licence } from "@larder/schemas"
import {
  brandedFood,
  commodity,
  type Layout,
  type LiveData,
  loadCommodities,
  loadStorefronts,
  openServedFoods,
  storefront
} from "@larder/warehouse"
import type { Effect } from "effect"
import type { Route } from "./route.ts"
import { brandedFoodRoutes } from "./routes/branded-foods.ts"
import { commodityRoutes } from "./routes/commodities.ts"
import { storefrontRoutes } from "./routes/storefronts.ts"

/** By pipeline. Resources that a loader opens are released with the data set. */
export const makeLoaders = (layout: Layout, withheldLicences: ReadonlyArray<Licence>) => ({
  commodities: { definition: commodity, load: ({ db }: LiveData) => loadCommodities(db, withheldLicences) },
  "branded-foods": { definition: brandedFood, load: ({ db, entry }: LiveData) => openServedFoods(layout, entry, db) },
  storefronts: { definition: storefront, load: ({ db }: LiveData) => loadStorefronts(db) }
})

type Loaders = ReturnType<typeof makeLoaders>
/** The loaded data of each data set, by pipeline. */
export type LoadedDataSets = { readonly [P in keyof Loaders]: Effect.Success<ReturnType<Loaders[P]["load"]>> }

const dataSetRoutes: ReadonlyArray<Route> = [...commodityRoutes, ...brandedFoodRoutes, ...storefrontRoutes]

/** One route for each endpoint, in the order of the endpoints. */
export const routes: ReadonlyArray<Route> = endpoints.map(({ id }) => {
  const route = dataSetRoutes.find(({ endpoint }) => endpoint.id === id)
  if (route === undefined) throw new Error(`the endpoint ${id} has no route`)
  return route
})
