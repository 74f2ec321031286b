/** The exchange-rate endpoint. */
import { type Endpoint, endpoint, fromAfterTo, fromNotAfterTo, PageBody } from "../endpoint.ts"
import { cursor, day, limit, text } from "../parameters.ts"
import { getExchangeRatesExamples } from "./examples.ts"
import { ExchangeRate } from "./records.ts"

export const getExchangeRates = endpoint({
  id: "getExchangeRates",
  path: "/v1/exchange-rates",
  scope: "get-exchange-rates",
  credits: 10,
  tag: "Exchange rates",
  summary: "Daily exchange rates of the euro",
  description:
    "Rates of all currencies, or of one, ordered by currency and day. Days without a rate are absent. An unknown currency has no rates.",
  use: "Use it for what one euro was worth in a currency on a day. Give `currency`, and narrow `from` and `to`.",
  parameters: {
    currency: text({ description: "Only this currency, by its ISO 4217 code in upper case.", example: "USD" }),
    from: day({ description: "First day included.", example: "2026-09-01" }),
    to: day({ description: "Last day included.", example: "2026-09-30" }),
    limit: limit({ description: "Rates per page.", default: 100, maximum: 500, above: "served as the maximum" }),
    cursor
  },
  rule: fromNotAfterTo,
  response: PageBody(ExchangeRate),
  examples: getExchangeRatesExamples,
  refusals: [fromAfterTo],
  order: ["currency", "day"]
})

/** In the order of the documents. */
export const exchangeRateEndpoints: ReadonlyArray<Endpoint> = [getExchangeRates]
