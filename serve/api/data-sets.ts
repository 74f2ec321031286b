/** The data sets that are served: how each is loaded from its database. */
import type { Licence } from "@larder/schemas"
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

/** By pipeline. Resources that a loader opens are released with the data set. */
export const makeLoaders = (layout: Layout, withheldLicences: ReadonlyArray<Licence>) => ({
  commodities: { definition: commodity, load: ({ db }: LiveData) => loadCommodities(db, withheldLicences) },
  "branded-foods": { definition: brandedFood, load: ({ db, entry }: LiveData) => openServedFoods(layout, entry, db) },
  storefronts: { definition: storefront, load: ({ db }: LiveData) => loadStorefronts(db) }
})

type Loaders = ReturnType<typeof makeLoaders>
/** The loaded data of each data set, by pipeline. */
export type LoadedDataSets = { readonly [P in keyof Loaders]: Effect.Success<ReturnType<Loaders[P]["load"]>> }
