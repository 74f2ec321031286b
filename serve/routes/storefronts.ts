/** Reads of the storefront endpoints. No generation holds storefronts yet: lists are empty and every id is unknown. */
import { unknownRecord } from "@larder/schemas/api-errors.ts"
import {
  getProduct,
  getStore,
  getStoreCollections,
  getStoreProducts,
  searchStores
} from "@larder/schemas/storefront/endpoints.ts"
import { Effect } from "effect"
import { type Route, refuse, route } from "../route.ts"

export const storefrontRoutes: ReadonlyArray<Route> = [
  route(searchStores, { read: () => Effect.succeed('{"data":[],"next_cursor":null}') }),
  route(getStore, { read: ({ id }) => refuse(unknownRecord("store", id)) }),
  route(getStoreProducts, { read: ({ id }) => refuse(unknownRecord("store", id)) }),
  route(getStoreCollections, { read: ({ id }) => refuse(unknownRecord("store", id)) }),
  route(getProduct, { read: ({ id }) => refuse(unknownRecord("product", id)) })
]
