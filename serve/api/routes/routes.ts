/** All routes: one for each endpoint of the list. */
import { endpoints } from "@larder/schemas/endpoints.ts"
import type { Route } from "../route.ts"
import { brandedFoodRoutes } from "./branded-foods.ts"
import { commodityRoutes } from "./commodities.ts"
import { storefrontRoutes } from "./storefronts.ts"

const written = new Map(
  [...commodityRoutes, ...brandedFoodRoutes, ...storefrontRoutes].map((route) => [route.endpoint.id, route])
)

export const routes: ReadonlyArray<Route> = endpoints.map((endpoint) => {
  const route = written.get(endpoint.id)
  if (route === undefined) throw new Error(`the endpoint ${endpoint.id} has no route`)
  return route
})
