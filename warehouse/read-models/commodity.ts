/**
 * The commodity catalog and all current readings of one generation, in memory and already serialized for responses. A
 * generation never changes, so this is loaded once, when it opens.
 */
import { CommodityProduct, type Frequency, type Licence, type Metric, type Series } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import { type Points, pointsOf } from "./points.ts"

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

/** One row per metric: a column of days and one of numbers cost less than a row per reading. */
const ReadingsRow = Schema.Struct({ metric_name: Schema.String, days: Schema.String, numbers: Schema.String })
const readingsRows = `
  select metric_name,
    string_agg(observed_on::varchar, ',' order by observed_on) as days,
    string_agg(value_text, ',' order by observed_on) as numbers
  from commodity.price
  group by metric_name`

/** The names of the metrics with these licences. */
const metricsOf = Effect.fnUntraced(function* (db: DuckDb["Service"], licences: ReadonlyArray<Licence>) {
  if (licences.length === 0) return new Set<string>()
  const Named = Schema.Struct({ metric_name: Schema.String })
  const sql = `select metric_name from commodity.metric where licence in (${licences.map(literal).join(", ")})`
  return new Set((yield* db.all(Named, sql)).map(({ metric_name }) => metric_name))
})

const pointsFrom = (row: typeof ReadingsRow.Type) => {
  const numbers = row.numbers.split(",")
  return pointsOf(row.days.split(",").map((day, index) => ({ day, value: numbers[index] ?? "null" })))
}

/** Leaves out metrics with withheld licences, their series, and products that have no other metrics. */
export const loadCommodities = Effect.fn("Commodities.load")(function* (
  db: DuckDb["Service"],
  withheldLicences: ReadonlyArray<Licence>
) {
  const withheld = yield* metricsOf(db, withheldLicences)
  const readings = yield* db.all(ReadingsRow, readingsRows)
  const pointsBy = new Map(readings.map((row) => [row.metric_name, pointsFrom(row)]))
  const none = pointsOf([])
  const all = yield* db.all(MetricRow, metricRows)
  const rows = all.filter(({ metric_name }) => !withheld.has(metric_name))
  const rowOf = new Map(rows.map((row) => [row.metric_name, row]))
  const metrics = new Map(
    rows.map((row) => [
      row.metric_name,
      { unit: row.unit, frequency: row.frequency, points: pointsBy.get(row.metric_name) ?? none }
    ])
  )

  const series = new Map<string, SeriesModel>()
  const groups = new Map<string, Array<SeriesModel>>()
  for (const { commodity, market, metric_name, slug, spec, unit } of yield* db.all(SeriesRow, seriesRows)) {
    const metric = rowOf.get(metric_name)
    if (metric === undefined) continue // withheld
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
    const model = { record, json: JSON.stringify(record), points: pointsBy.get(metric_name) ?? none }
    series.set(slug, model)
    groups.set(commodity, [...(groups.get(commodity) ?? []), model])
  }

  const metricsOfProduct = new Map<string, Array<typeof Metric.Type>>()
  for (const { product_slug, report: _report, ...metric } of rows) {
    metricsOfProduct.set(product_slug, [...(metricsOfProduct.get(product_slug) ?? []), metric])
  }
  const emptied = new Set(all.flatMap(({ product_slug }) => (metricsOfProduct.has(product_slug) ? [] : [product_slug])))
  const products = (yield* db.all(ProductRow, productRows))
    .filter(({ slug }) => !emptied.has(slug))
    .map((product) => ({
      slug: product.slug,
      category: product.category,
      json: JSON.stringify({ ...product, metrics: metricsOfProduct.get(product.slug) ?? [] })
    }))
  return {
    loaded: true,
    groups: [...groups].map(([commodity, series]) => ({ commodity, series })),
    series,
    metrics,
    products
  } satisfies CommodityModel as CommodityModel
})
