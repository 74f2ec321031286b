/** All routes: one for each endpoint. */
import { endpoints } from "@larder/schemas"
import { dataSetRoutes } from "../data-sets.ts"
import type { Route } from "../route.ts"

const routesById = new Map(dataSetRoutes.map((route) => [route.endpoint.id, route]))

export const routes: ReadonlyArray<Route> = endpoints.map((endpoint) => {
  const route = routesById.get(endpoint.id)
  if (route === undefined) throw new Error(`the endpoint ${endpoint.id} has no route`)
  return route
})
