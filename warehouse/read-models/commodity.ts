/** The commodity catalog and current readings of a generation, serialized in memory when the generation opens. */
import { CommodityProduct, type Frequency, type Licence, type Metric, type Series } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import { type Points, serializePoints } from "./points.ts"

export interface SeriesModel {
  readonly record: typeof Series.Type
  readonly json: string
  readonly points: Points
}

export interface MetricModel {
  readonly unit: string
  readonly frequency: Frequency
  readonly points: Points
}

export interface CommodityModel {
  readonly loaded: boolean
  /** In the order of the catalog. */
  readonly groups: ReadonlyArray<{ readonly commodity: string; readonly series: ReadonlyArray<SeriesModel> }>
  readonly series: ReadonlyMap<string, SeriesModel>
  readonly metrics: ReadonlyMap<string, MetricModel>
  /** In ascending order of slugs. */
  readonly products: ReadonlyArray<{ readonly slug: string; readonly category: string; readonly json: string }>
}

export const withoutCommodities: CommodityModel = {
  loaded: false,
  groups: [],
  series: new Map(),
  metrics: new Map(),
  products: []
}

const Text = Schema.NullOr(Schema.String)
const MetricRow = Schema.Struct({
  metric_name: Schema.String,
  measure: Schema.String,
  unit: Schema.String,
  region: Schema.String,
  market_level: Schema.String,
  freight: Schema.String,
  frequency: Schema.Literals(["daily", "weekly", "biweekly", "monthly", "annual"]),
  source: Schema.Literals(["gov-mars", "gov-mpr"]),
  product_slug: Schema.String,
  report: Schema.String,
  first_observed_on: Text,
  last_observed_on: Text
})
const metricRows = `
  select metric_name, measure, unit, region, market_level, freight, frequency, source, product_slug, report,
    first_observed_on::varchar as first_observed_on, last_observed_on::varchar as last_observed_on
  from commodity.metric
  join commodity.coverage using (metric_name)
  order by metric_name`

const SeriesRow = Schema.Struct({
  slug: Schema.String,
  metric_name: Schema.String,
  commodity: Schema.String,
  spec: Text,
  market: Schema.String,
  unit: Schema.Literals(["USD/lb", "USD/cwt"])
})
const seriesRows = "select slug, metric_name, commodity, spec, market, unit from commodity.series order by position"

const { metrics: _, ...productFields } = CommodityProduct.fields
const ProductRow = Schema.Struct({
  ...productFields,
  attributes: Schema.fromJsonString(productFields.attributes),
  details: Schema.fromJsonString(productFields.details)
})
const productRows = "select slug, category, attributes, details from commodity.product order by slug"

/** One row per metric, with all days and all numbers: faster than a row per reading. */
const ReadingsRow = Schema.Struct({ metric_name: Schema.String, days: Schema.String, numbers: Schema.String })
const readingsRows = `
  select metric_name,
    string_agg(observed_on::varchar, ',' order by observed_on) as days,
    string_agg(value_text, ',' order by observed_on) as numbers
  from commodity.price
  group by metric_name`

const readMetricNames = Effect.fnUntraced(function* (db: DuckDb["Service"], licences: ReadonlyArray<Licence>) {
  if (licences.length === 0) return new Set<string>()
  const Named = Schema.Struct({ metric_name: Schema.String })
  const sql = `select metric_name from commodity.metric where licence in (${licences.map(literal).join(", ")})`
  return new Set((yield* db.all(Named, sql)).map(({ metric_name }) => metric_name))
})

const parsePoints = (row: typeof ReadingsRow.Type) => {
  const numbers = row.numbers.split(",")
  return serializePoints(row.days.split(",").map((day, index) => ({ day, value: numbers[index] ?? "null" })))
}

/** Omits metrics with withheld licences, their series, and products that have no other metrics. */
export const loadCommodities = Effect.fn("Commodities.load")(function* (
  db: DuckDb["Service"],
  withheldLicences: ReadonlyArray<Licence>
) {
  const withheld = yield* readMetricNames(db, withheldLicences)
  const points = new Map((yield* db.all(ReadingsRow, readingsRows)).map((row) => [row.metric_name, parsePoints(row)]))
  const noPoints = serializePoints([])
  const all = yield* db.all(MetricRow, metricRows)
  const rows = all.filter(({ metric_name }) => !withheld.has(metric_name))
  const metricRowOf = new Map(rows.map((row) => [row.metric_name, row]))

  const series = (yield* db.all(SeriesRow, seriesRows)).flatMap(
    ({ commodity, market, metric_name, slug, spec, unit }) => {
      const metric = metricRowOf.get(metric_name)
      if (metric === undefined) return [] // withheld
      const { first_observed_on, frequency, last_observed_on, measure, report, source } = metric
      const record = {
        slug,
        spec,
        market,
        measure,
        unit,
        frequency: frequency as "daily" | "weekly" | "monthly", // no series of the catalog is biweekly or annual
        source,
        report,
        first_observed_on,
        last_observed_on
      }
      return [{ commodity, record, json: JSON.stringify(record), points: points.get(metric_name) ?? noPoints }]
    }
  )

  const rowsOfProduct = Map.groupBy(rows, ({ product_slug }) => product_slug)
  const metricsOf = (slug: string): ReadonlyArray<typeof Metric.Type> =>
    (rowsOfProduct.get(slug) ?? []).map(({ product_slug: _product, report: _report, ...metric }) => metric)
  const emptied = new Set(all.flatMap(({ product_slug }) => (rowsOfProduct.has(product_slug) ? [] : [product_slug])))
  const products = (yield* db.all(ProductRow, productRows))
    .filter(({ slug }) => !emptied.has(slug))
    .map((product) => ({
      slug: product.slug,
      category: product.category,
      json: JSON.stringify({ ...product, metrics: metricsOf(product.slug) })
    }))
  return {
    loaded: true,
    groups: [...Map.groupBy(series, ({ commodity }) => commodity)].map(([commodity, series]) => ({
      commodity,
      series
    })),
    series: new Map(series.map((model) => [model.record.slug, model])),
    metrics: new Map(
      rows.map(({ frequency, metric_name, unit }) => [
        metric_name,
        { unit, frequency, points: points.get(metric_name) ?? noPoints }
      ])
    ),
    products
  } satisfies CommodityModel as CommodityModel
})
