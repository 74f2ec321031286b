/** All exchange rates of one generation, in memory and already serialized for responses. */
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"

export interface Rate {
  readonly currency: string
  readonly day: string
  readonly json: string
}

interface RateFilter {
  readonly currency: string | undefined
  readonly from: string | undefined
  readonly to: string | undefined
}

export interface ExchangeRates {
  /** A page of rates in the order of currency and day, and whether more follow. */
  readonly page: (
    filter: RateFilter,
    after: Pick<Rate, "currency" | "day"> | undefined,
    limit: number
  ) => { readonly rates: ReadonlyArray<Rate>; readonly hasMore: boolean }
}

const RateRow = Schema.Struct({ currency: Schema.String, day: Schema.String, rate_text: Schema.String })
const rateRows = "select currency, day::varchar as day, rate_text from exchange_rate.rate order by currency, day"

const isAfter = (rate: Rate, after: Pick<Rate, "currency" | "day">) =>
  rate.currency > after.currency || (rate.currency === after.currency && rate.day > after.day)

export const loadExchangeRates = Effect.fn("ExchangeRates.load")(function* (db: DuckDb["Service"]) {
  const all = (yield* db.all(RateRow, rateRows)).map(
    ({ currency, day, rate_text }): Rate => ({
      currency,
      day,
      json: `${JSON.stringify({ currency, day }).slice(0, -1)},"rate":${rate_text}}`
    })
  )
  const page: ExchangeRates["page"] = ({ currency, from = "", to = "9999-12-31" }, after, limit) => {
    const rest = all.filter(
      (rate) =>
        (currency === undefined || rate.currency === currency) &&
        rate.day >= from &&
        rate.day <= to &&
        (after === undefined || isAfter(rate, after))
    )
    return { rates: rest.slice(0, limit), hasMore: rest.length > limit }
  }
  const rates: ExchangeRates = { page }
  return rates
})
