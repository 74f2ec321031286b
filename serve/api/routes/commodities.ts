/** Reads of the commodity endpoints, all from memory. */
import {
  type Frequency,
  getCommodityMetricValues,
  getCommodityPrices,
  pagedParameters,
  searchCommodities,
  unknownMetrics,
  unknownSeries,
  yearsBefore
} from "@larder/schemas"
import { type CommodityModel, type MetricModel, measureRange, serializeRange } from "@larder/warehouse"
import { Schema } from "effect"
import { page, type Request, type Route, route } from "../route.ts"

const formatList = (items: ReadonlyArray<string>) => `{"data":[${items.join(",")}]}`

/** The series with the search term in their slug, and all series of commodities with the term in their name. */
const formatGroups = (model: CommodityModel, commodity: string | undefined) => {
  const term = commodity?.toLowerCase() ?? ""
  const groups = model.groups.flatMap((group) => {
    const isNameMatch = group.commodity.toLowerCase().includes(term)
    const series = isNameMatch
      ? group.series
      : group.series.filter(({ record }) => record.slug.toLowerCase().includes(term))
    if (series.length === 0) return []
    const items = series.map(({ json }) => json).join(",")
    return [`{"commodity":${JSON.stringify(group.commodity)},"series":[${items}]}`]
  })
  return formatList(groups)
}

const isPaged = ({ isOnDataHost, query }: Pick<Request<unknown, never>, "isOnDataHost" | "query">) =>
  pagedParameters.some((name) => query.has(name)) || (isOnDataHost && !query.has("commodity"))

/** Compares whole segments: `dairy` matches `dairy/butter`, not `dairyfree`. A trailing slash is ignored. */
const isWithin = (category: string, ancestor: string | undefined) => {
  const path = ancestor?.replace(/\/$/, "")
  return path === undefined || category === path || category.startsWith(`${path}/`)
}

const ProductPosition = Schema.Tuple([Schema.String]) // slug

const formatPage = (
  model: CommodityModel,
  {
    after,
    cursorAt,
    values
  }: Request<{ readonly category: string | undefined; readonly limit: number }, typeof ProductPosition.Type>
) => {
  const last = after?.[0] ?? ""
  const remaining = model.products.filter(({ category, slug }) => slug > last && isWithin(category, values.category))
  const products = remaining.slice(0, values.limit)
  const lastProduct = products.at(-1)
  const next = remaining.length > products.length && lastProduct !== undefined ? cursorAt([lastProduct.slug]) : null
  return page(
    products.map(({ json }) => json),
    next
  )
}

/** How many calendar years back a metric goes by default. */
const yearsBack: Readonly<Record<Frequency, number>> = { daily: 1, weekly: 1, biweekly: 1, monthly: 5, annual: 10 }

const resolveRange = ({ frequency, points }: MetricModel, from: string | undefined, to: string | undefined) => {
  const newest = points.days.at(-1)
  const end = to ?? newest ?? null
  const start = from ?? (newest === undefined || end === null ? null : yearsBefore(end, yearsBack[frequency]))
  return { start, end }
}

const formatMetric = (name: string, metric: MetricModel, from: string | undefined, to: string | undefined) => {
  const { start, end } = resolveRange(metric, from, to)
  const points = start === null || end === null ? "[]" : serializeRange(metric.points, start, end)
  const head = { metric_name: name, unit: metric.unit, from: start, to: end }
  return `${JSON.stringify(head).slice(0, -1)},"points":${points}}`
}

/** Average sizes. A product has all its metrics. */
const seriesBytes = 310
const productBytes = 2_300
const headBytes = 120

/** Names are checked before the credits are held, so a missing name is a defect, not an empty result. */
const getKnown = <A>(catalog: ReadonlyMap<string, A>, name: string): A => {
  const entry = catalog.get(name)
  if (entry === undefined) throw new Error(`${name} is not in the catalog of the generation`)
  return entry
}

export const commodityRoutes: ReadonlyArray<Route> = [
  route(searchCommodities, {
    position: ProductPosition,
    expectedBytes: (request, { commodities: { products, series } }) =>
      isPaged(request) ? productBytes * Math.min(request.values.limit, products.length) : seriesBytes * series.size,
    read: (request, { model: { commodities } }) =>
      isPaged(request) ? formatPage(commodities, request) : formatGroups(commodities, request.values.commodity)
  }),
  route(getCommodityPrices, {
    checkNames: ({ series }, { commodities }) => {
      const unknown = series.find((slug) => !commodities.series.has(slug))
      return unknown === undefined ? undefined : unknownSeries(unknown)
    },
    expectedBytes: ({ values: { from, series, to } }, { commodities }) =>
      series.reduce(
        (sum, slug) => sum + headBytes + measureRange(getKnown(commodities.series, slug).metric.points, from, to),
        0
      ),
    read: ({ values: { from, series, to } }, { model: { commodities } }) =>
      formatList(
        series.map((slug) => {
          const { metric, record } = getKnown(commodities.series, slug)
          return `{"slug":"${slug}","unit":"${record.unit}","points":${serializeRange(metric.points, from, to)}}`
        })
      )
  }),
  route(getCommodityMetricValues, {
    checkNames: ({ metrics }, { commodities }) => {
      const unknown = metrics.filter((name) => !commodities.metrics.has(name))
      return unknown.length === 0 ? undefined : unknownMetrics(unknown)
    },
    expectedBytes: ({ values: { from, metrics, to } }, { commodities }) =>
      metrics.reduce((sum, name) => {
        const metric = getKnown(commodities.metrics, name)
        const { start, end } = resolveRange(metric, from, to)
        return sum + headBytes + measureRange(metric.points, start ?? undefined, end ?? undefined)
      }, 0),
    read: ({ values: { from, metrics, to } }, { model: { commodities } }) =>
      formatList(metrics.map((name) => formatMetric(name, getKnown(commodities.metrics, name), from, to)))
  })
]
