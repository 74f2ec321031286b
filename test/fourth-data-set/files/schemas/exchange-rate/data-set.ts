/** The data set as the API presents it. */
import type { ApiDataSet } from "../data-set.ts"
import { exchangeRateEndpoints } from "./endpoints.ts"

export const exchangeRates = {
  pipeline: "exchange-rates",
  tag: "Exchange rates",
  holds: "exchange rates",
  origin: "daily exchange rates of the euro",
  about: `What one euro is worth in other currencies, day by day.

Source: the daily file of rates.example (\`rates\`), which is fictional. A corrected rate replaces the earlier one. Days without a rate are left out, never filled.`,
  firstCall: "exchange-rates?currency=USD&limit=5",
  scopes: ["get-exchange-rates"],
  endpoints: exchangeRateEndpoints
} as const satisfies ApiDataSet
