/** Prices of commodities: catalog, and every published value. */
import {
  CommodityProductRow,
  InactiveRow,
  MetricRow,
  Observation,
  ObservationVersion,
  SeriesRow,
  Vintage
} from "@larder/schemas"
import { type DataSet, defineMacro, defineTable, defineView, inLake, readSql } from "../tables.ts"
import { monthly, weekly } from "./periods.ts"

export const productTable = defineTable("commodity", "product", CommodityProductRow, {
  by: "replace all",
  key: ["slug"]
})
/** The lines of the catalog, with what their values say. */
export const metricTable = defineTable("commodity", "metric", MetricRow, {
  by: "replace all",
  key: ["metric_name"],
  derived: {
    columns: [
      "first_observed_on",
      "last_observed_on",
      "last_updated",
      "observations",
      "publications",
      "no_values_reason"
    ],
    update: readSql("commodity", "metric_values")
  }
})
export const seriesTable = defineTable("commodity", "series", SeriesRow, { by: "replace all", key: ["slug"] })
/** Few rows, and none without the operator's own catalog. */
export const inactiveTable = defineTable("commodity", "inactive", InactiveRow, { by: "replace all", key: ["subject"] })
export const observationVersionTable = defineTable(
  "commodity",
  "observation_version",
  ObservationVersion,
  { by: "append", key: ["metric_name", "observed_on", "value_text", "published_at", "revision_status"] },
  "published_at"
)

/** Which of several versions of a value counts, and from when on each is known. */
const valueParts = {
  version: readSql("commodity", "version"),
  current_value: readSql("commodity", "current_value")
}

export const commodity: DataSet = {
  schema: "commodity",
  version: 1,
  about: {
    pipeline: "commodities",
    title: "Commodities",
    description: "Dairy prices of US government reports: My Market News and Datamart.",
    licence:
      "Public domain (US government), except metrics that belong to an exchange: `commodity.metric.licence` says which.",
    attribution: "USDA Agricultural Marketing Service",
    source_url: "https://mymarketnews.ams.usda.gov",
    newest: { in: "data", table: "commodity.observation_version", day: "max(observed_on)" },
    late_after_days: 2
  },
  tables: [productTable, metricTable, seriesTable, inactiveTable, observationVersionTable],
  views: [
    inLake(defineView("commodity", "observation", Observation, ["metric_name", "observed_on"], valueParts)),
    defineMacro("commodity", "observation_as_of", valueParts),
    weekly,
    monthly,
    inLake(defineView("commodity", "vintage", Vintage, ["metric_name", "observed_on", "realtime_start"], valueParts))
  ],
  // Two feeds may have received the same bytes; a metric's rolling and final feeds differ in revision_status.
  countSourceRows: `
    select count(distinct (raw_sha256, source_row, feed, revision_status))::integer as rows
    from commodity.observation_version
    join commodity.metric using (metric_name)`
}
