/** Example call of the exchange-rate endpoint and its response, from the bundled samples, which are fictional. */
import type { Examples } from "../endpoint.ts"

export const getExchangeRatesExamples: Examples = {
  rates: {
    summary: "One currency, two days",
    target: "/v1/exchange-rates?currency=USD&from=2026-09-28&to=2026-09-29",
    body: {
      data: [
        { currency: "USD", day: "2026-09-28", rate: 1.0417 },
        { currency: "USD", day: "2026-09-29", rate: 1.0375 }
      ],
      next_cursor: null
    }
  }
}
