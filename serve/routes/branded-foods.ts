/** Reads of the branded-food endpoints. No generation holds branded foods yet: lists are empty and every id is unknown. */
import { unknownRecord } from "@larder/schemas/api-errors.ts"
import { getBrandedFood, getBrandedFoodCategories, searchBrandedFoods } from "@larder/schemas/branded-food/endpoints.ts"
import { Effect } from "effect"
import { type Route, refuse, route } from "../route.ts"

const emptyPage = Effect.succeed('{"data":[],"next_cursor":null}')

export const brandedFoodRoutes: ReadonlyArray<Route> = [
  route(searchBrandedFoods, { read: () => emptyPage }),
  route(getBrandedFoodCategories, { read: () => Effect.succeed('{"data":[]}') }),
  route(getBrandedFood, { read: ({ id }) => refuse(unknownRecord("branded food", id)) })
]
