/** The exchange-rate endpoint. */
import { type ApiDataSet, checkRange, endpoint, fromAfterTo, PageBody } from "../endpoint.ts"
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
    limit: limit({ description: "Rates per page.", default: 100, maximum: 500, aboveMaximum: "served as the maximum" }),
    cursor
  },
  rule: checkRange,
  response: PageBody(ExchangeRate),
  examples: getExchangeRatesExamples,
  refusals: [fromAfterTo]
})

export const exchangeRates = {
  pipeline: "exchange-rates",
  tag: "Exchange rates",
  contents: "exchange rates",
  origin: "daily exchange rates of the euro",
  about: `What one euro is worth in other currencies, day by day.

Source: the daily file of rates.example (\`rates\`), which is fictional. A corrected rate replaces the earlier one. Days without a rate are left out, never filled.`,
  firstCall: "exchange-rates?currency=USD&limit=5",
  endpoints: [getExchangeRates]
} as const satisfies ApiDataSet
