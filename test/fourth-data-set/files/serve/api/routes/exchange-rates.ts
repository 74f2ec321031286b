/** Read of the exchange-rate endpoint. It reads from memory. */
import { getExchangeRates } from "@larder/schemas"
import { Schema } from "effect"
import { type Route, route } from "../route.ts"

export const exchangeRateRoutes: ReadonlyArray<Route> = [
  route(getExchangeRates, {
    position: Schema.Tuple([Schema.String, Schema.String]), // currency, day
    read: ({ after, cursorAt, values }, { model: { loaded } }) => {
      const { limit, ...filter } = values
      const last = after && { currency: after[0], day: after[1] }
      const found = loaded["exchange-rates"]?.page(filter, last, limit)
      const end = found?.hasMore ? found.rates.at(-1) : undefined
      const next = end === undefined ? null : cursorAt([end.currency, end.day])
      const records = found?.rates.map(({ json }) => json) ?? []
      return `{"data":[${records.join(",")}],"next_cursor":${JSON.stringify(next)}}`
    }
  })
]
