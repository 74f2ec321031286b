/** The commodity catalog and current readings of a generation, serialized in memory when the generation opens. */
import { CommodityProduct, Metric, MetricRow, Series } from "@larder/schemas"
import { Effect, Schema, Struct } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Points, serializePoints } from "./points.ts"

/** What guides and the console say of a metric, in addition to the API. */
const textNames = ["title", "notes", "unit_text", "frequency_text", "report", "publishes_on"] as const
const modelNames = ["unit", "frequency", "source", ...textNames] as const

export interface MetricModel extends Pick<typeof ServedMetric.Type, (typeof modelNames)[number]> {
  readonly points: Points
}

export interface SeriesModel {
  readonly record: typeof Series.Type
  readonly json: string
  /** The metric with the same values. */
  readonly metric: MetricModel
}

export interface CommodityModel {
  /** In the order of the catalog. */
  readonly groups: ReadonlyArray<{ readonly commodity: string; readonly series: ReadonlyArray<SeriesModel> }>
  readonly series: ReadonlyMap<string, SeriesModel>
  readonly metrics: ReadonlyMap<string, MetricModel>
  /** In ascending order of slugs. */
  readonly products: ReadonlyArray<{ readonly slug: string; readonly category: string; readonly json: string }>
}

export const emptyCommodities: CommodityModel = {
  groups: [],
  series: new Map(),
  metrics: new Map(),
  products: []
}

const observedOn = "first_observed_on::varchar as first_observed_on, last_observed_on::varchar as last_observed_on"

const ServedMetric = Schema.Struct({
  ...Metric.fields,
  ...Struct.pick(MetricRow.fields, textNames),
  product_slug: Schema.String,
  licence: Schema.String
})
const selectMetrics = `
  select metric_name, measure, unit, region, market_level, freight, frequency, source, ${observedOn},
    title, notes, unit_text, frequency_text, report, publishes_on, product_slug, licence
  from commodity.metric
  order by metric_name`

const SeriesRow = Schema.Struct({ ...Series.fields, metric_name: Schema.String, commodity: Schema.String })
const selectSeries = `
  select slug, spec, market, measure, series.unit, frequency, source, report, ${observedOn}, metric_name, commodity
  from commodity.series
  join commodity.metric using (metric_name)
  order by position`

const { metrics: _, ...productFields } = CommodityProduct.fields
const ProductRow = Schema.Struct({
  ...productFields,
  attributes: Schema.fromJsonString(productFields.attributes),
  details: Schema.fromJsonString(productFields.details)
})
const selectProducts = "select slug, category, attributes, details from commodity.product order by slug"

/** One row per metric, with all days and their numbers as one text: faster than a row per reading. */
const ReadingsRow = Schema.Struct({ metric_name: Schema.String, readings: Schema.String })
const selectReadings = `
  select metric_name, string_agg(observed_on::varchar || value_text, ',' order by observed_on) as readings
  from commodity.observation
  group by metric_name`

const dayLength = "2026-01-31".length
const parsePoints = ({ readings }: typeof ReadingsRow.Type) =>
  serializePoints(
    readings.split(",").map((reading) => ({ day: reading.slice(0, dayLength), value: reading.slice(dayLength) }))
  )

/** Only what the API returns. */
const toRecord = (row: typeof ServedMetric.Type): typeof Metric.Type =>
  Struct.omit(row, ["licence", "product_slug", ...textNames])

/** Omits metrics with withheld licences, their series, and products that have no other metrics. */
export const loadCommodities = Effect.fn("Commodities.load")(function* (
  db: DuckDb["Service"],
  withheldLicences: ReadonlyArray<string>
) {
  const allRows = yield* db.all(ServedMetric, selectMetrics)
  const rows = allRows.filter(({ licence }) => !withheldLicences.includes(licence))
  const pointsOf = new Map(
    (yield* db.all(ReadingsRow, selectReadings)).map((row) => [row.metric_name, parsePoints(row)])
  )
  const noPoints = serializePoints([])
  const metrics = new Map(
    rows.map((row): [string, MetricModel] => [
      row.metric_name,
      { ...Struct.pick(row, modelNames), points: pointsOf.get(row.metric_name) ?? noPoints }
    ])
  )
  const series = (yield* db.all(SeriesRow, selectSeries)).flatMap(({ commodity, metric_name, ...record }) => {
    const metric = metrics.get(metric_name)
    return metric === undefined // withheld
      ? []
      : [{ commodity, record, json: JSON.stringify(record), metric }]
  })

  const rowsOfProduct = Map.groupBy(rows, ({ product_slug }) => product_slug)
  const metricsOf = (slug: string): ReadonlyArray<typeof Metric.Type> => (rowsOfProduct.get(slug) ?? []).map(toRecord)
  const withheldProducts = new Set(
    allRows.flatMap(({ product_slug }) => (rowsOfProduct.has(product_slug) ? [] : [product_slug]))
  )
  const products = (yield* db.all(ProductRow, selectProducts))
    .filter(({ slug }) => !withheldProducts.has(slug))
    .map((product) => ({
      slug: product.slug,
      category: product.category,
      json: JSON.stringify({ ...product, metrics: metricsOf(product.slug) })
    }))
  const model: CommodityModel = {
    groups: [...Map.groupBy(series, ({ commodity }) => commodity)].map(([commodity, series]) => ({
      commodity,
      series
    })),
    series: new Map(series.map((model) => [model.record.slug, model])),
    metrics,
    products
  }
  return model
})
