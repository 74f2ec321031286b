/** Exchange rates of the euro. */
import { RateRow } from "@larder/schemas"
import { type DataSet, defineTable } from "../tables.ts"

export const rateTable = defineTable(
  "exchange_rate",
  "rate",
  RateRow,
  { by: "replace", key: ["currency", "day"], ignoredColumns: ["raw_sha256", "fetched_at", "source_row"] },
  "day"
)

export const exchangeRate: DataSet = {
  schema: "exchange_rate",
  version: 1,
  about: {
    pipeline: "exchange-rates",
    title: "Exchange rates",
    description: "What one euro is worth in other currencies, day by day.",
    licence: "None: the source is fictional.",
    attribution: "rates.example",
    source_url: "https://rates.example",
    newest: { in: "data", table: "exchange_rate.rate", day: "max(day)" }
  },
  tables: [rateTable],
  views: [],
  // a line of the source has the rates of all currencies
  countSourceRows: "select count(distinct (raw_sha256, source_row))::integer as rows from exchange_rate.rate"
}
