/** Prices of commodities: catalog, and every published value. */
import { CommodityProductRow, Coverage, MetricRow, Price, PriceVersion, SeriesRow } from "@larder/schemas"
import { type DataSet, table, view } from "../tables.ts"

export const productTable = table("commodity", "product", CommodityProductRow, { by: "replacing all" })
export const metricTable = table("commodity", "metric", MetricRow, { by: "replacing all" })
export const seriesTable = table("commodity", "series", SeriesRow, { by: "replacing all" })
export const priceVersionTable = table(
  "commodity",
  "price_version",
  PriceVersion,
  { by: "adding", key: ["metric_name", "observed_on", "value_text", "published_at", "is_final"] },
  "published_at"
)

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
    newest: { table: "commodity.price_version", day: "max(observed_on)" },
    late_after_days: 2
  },
  tables: [productTable, metricTable, seriesTable, priceVersionTable],
  views: [view("commodity", "price", Price), view("commodity", "price_as_of"), view("commodity", "coverage", Coverage)],
  // Two feeds may have received the same bytes; a metric's rolling and final feeds differ in is_final.
  countStatedRows: `
    select count(distinct (raw_sha256, source_row, feed, is_final))::integer as rows
    from commodity.price_version
    join commodity.metric using (metric_name)`
}
