/** The table of the warehouse schema `exchange_rate`. */
import { Schema } from "effect"
import { ExchangeRate } from "./records.ts"

export const RateRow = Schema.Struct({
  currency: ExchangeRate.fields.currency,
  day: ExchangeRate.fields.day,
  rate: Schema.String.annotate({ description: "Units of the currency for one euro, to six decimal places." }),
  rate_text: Schema.String.annotate({
    description: "The published rate with its digits as printed: the value that the API returns."
  }),
  run_id: Schema.String.annotate({ description: "Run that loaded the rate: `ingest.run.run_id`." }),
  raw_sha256: Schema.String.annotate({ description: "Payload that states the rate: `ingest.raw_file.raw_sha256`." }),
  fetched_at: Schema.String.annotate({
    description: "When the rate last changed: the time at which the first payload with this rate was fetched, in UTC."
  }),
  source_row: Schema.Int.annotate({ description: "Line of the day in that payload, counted from 1 after the header." })
}).annotate({
  identifier: "exchange_rate.rate",
  description: "The current rate of each currency and day. A corrected rate replaces the earlier one."
})
