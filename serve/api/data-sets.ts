/** The data sets that are served: how each is loaded from its database and becomes part of the read model, and its routes. */
import { endpoints, type Licence } from "@larder/schemas"
import {
  brandedFood,
  commodity,
  emptyCommodities,
  type Layout,
  type LiveData,
  type LoadedDataSets,
  type Loading,
  loadCommodities,
  loadStorefronts,
  openServedFoods,
  storefront,
  withLastReads
} from "@larder/warehouse"
import { Effect, type FileSystem, type Path } from "effect"
import { type ReadModel, toProvenances } from "./read-model.ts"
import type { Route } from "./route.ts"
import { brandedFoodRoutes } from "./routes/branded-foods.ts"
import { commodityRoutes } from "./routes/commodities.ts"
import { storefrontRoutes } from "./routes/storefronts.ts"

/** By pipeline. Resources that a loader opens are released with the data set. */
const makeLoaders = (layout: Layout, withheldLicences: ReadonlyArray<Licence>) => ({
  commodities: { definition: commodity, load: ({ db }: LiveData) => loadCommodities(db, withheldLicences) },
  "branded-foods": { definition: brandedFood, load: ({ db, entry }: LiveData) => openServedFoods(layout, entry, db) },
  storefronts: { definition: storefront, load: ({ db }: LiveData) => loadStorefronts(db) }
})

/** Loads a data set only when its parts change, and assembles the read model for every generation. */
export const makeReadModel = (
  layout: Layout,
  withheldLicences: ReadonlyArray<Licence> = []
): Loading<LoadedDataSets, ReadModel, FileSystem.FileSystem | Path.Path> => {
  const loaders = makeLoaders(layout, withheldLicences)
  return {
    dataSets: loaders,
    assemble: (loaded, entries, ingest) =>
      Effect.map(
        loaded.storefronts === undefined ? Effect.undefined : withLastReads(loaded.storefronts, ingest),
        (storefronts) => ({
          loaded,
          commodities: loaded.commodities ?? emptyCommodities,
          foods: loaded["branded-foods"],
          storefronts,
          dataSets: Object.fromEntries(Object.keys(loaders).map((name) => [name.replaceAll("-", "_"), name in loaded])),
          provenances: toProvenances(entries)
        })
      )
  }
}

const dataSetRoutes: ReadonlyArray<Route> = [...commodityRoutes, ...brandedFoodRoutes, ...storefrontRoutes]

/** One route for each endpoint, in the order of the endpoints. */
export const routes: ReadonlyArray<Route> = endpoints.map(({ id }) => {
  const route = dataSetRoutes.find(({ endpoint }) => endpoint.id === id)
  if (route === undefined) throw new Error(`the endpoint ${id} has no route`)
  return route
})
