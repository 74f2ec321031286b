/** Exchange rates as the API returns them. Rates are published decimals: JSON numbers with their printed digits. */
import { Schema } from "effect"
import { Day } from "../dates.ts"

export const ExchangeRate = Schema.Struct({
  currency: Schema.String.annotate({
    description: "Currency by its ISO 4217 code.",
    examples: ["USD"]
  }),
  day: Day.annotate({ description: "Day for which the rate was published." }),
  rate: Schema.Finite.annotate({
    description: "Units of the currency for one euro, unrounded, with all published decimal places."
  })
}).annotate({ identifier: "ExchangeRate", description: "What one euro was worth in a currency on a day." })
