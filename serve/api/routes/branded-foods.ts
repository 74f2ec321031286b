/** Reads of the branded-food endpoints, from the stored records and the search index of a generation. */
import {
  getBrandedFood,
  getBrandedFoodCategories,
  parseFdcId,
  searchBrandedFoods,
  unknownRecord
} from "@larder/schemas"
import { Effect, Schema } from "effect"
import { expectPage, formatRecord, page, type Route, route } from "../route.ts"

export const brandedFoodRoutes: ReadonlyArray<Route> = [
  route(searchBrandedFoods, {
    position: Schema.Tuple([Schema.String.check(Schema.isPattern(/^\d{1,10}$/u))]), // fdc_id
    expectedBytes: expectPage(3_000),
    read: ({ after, cursorAt, values }, { model: { foods } }) => {
      if (foods === undefined) return page([], null)
      const { cursor: _, limit, ...filters } = values
      const last = after && Number(after[0])
      return Effect.map(foods.search(filters, last, limit), ({ next, records }) =>
        page(records, next === undefined ? null : cursorAt([String(next)]))
      )
    }
  }),
  route(getBrandedFoodCategories, {
    expectedBytes: (_request, { foods }) => foods?.categories.length ?? 0,
    read: (_request, { model: { foods } }) => `{"data":${foods?.categories ?? "[]"}}`
  }),
  route(getBrandedFood, {
    read: ({ id }, { model: { foods } }) => {
      const fdcId = parseFdcId(id)
      return formatRecord(fdcId === undefined ? undefined : foods?.record(fdcId), unknownRecord("branded food", id))
    }
  })
]
