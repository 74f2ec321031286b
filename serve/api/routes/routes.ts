/** The routes of all data sets. */
import { endpoints } from "@larder/schemas"
import type { Route } from "../route.ts"
import { brandedFoodRoutes } from "./branded-foods.ts"
import { commodityRoutes } from "./commodities.ts"
import { storefrontRoutes } from "./storefronts.ts"

const dataSetRoutes: ReadonlyArray<Route> = [...commodityRoutes, ...brandedFoodRoutes, ...storefrontRoutes]

/** One route for each endpoint, in the order of the endpoints. */
export const routes: ReadonlyArray<Route> = endpoints.map(({ id }) => {
  const route = dataSetRoutes.find(({ endpoint }) => endpoint.id === id)
  if (route === undefined) throw new Error(`the endpoint ${id} has no route`)
  return route
})
