/** Reads of the commodity endpoints. All of them answer from memory. */
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
import { type CommodityModel, jsonOfRange, lengthOfRange, type MetricModel } from "@larder/warehouse"
import { Effect } from "effect"
import { type Request, type Route, route } from "../route.ts"

const list = (items: ReadonlyArray<string>) => `{"data":[${items.join(",")}]}`

/** Keeps series whose commodity name or slug contains the text; a group whose name contains it keeps all its series. */
const grouped = (model: CommodityModel, commodity: string | undefined) => {
  const text = commodity?.toLowerCase() ?? ""
  const groups = model.groups.flatMap((group) => {
    const all = group.commodity.toLowerCase().includes(text)
    const series = all ? group.series : group.series.filter(({ record }) => record.slug.toLowerCase().includes(text))
    if (series.length === 0) return []
    const items = series.map(({ json }) => json).join(",")
    return [`{"commodity":${JSON.stringify(group.commodity)},"series":[${items}]}`]
  })
  return list(groups)
}

/** Compares whole segments: `dairy` matches `dairy/butter`, not `dairyfree`. A trailing slash is ignored. */
const isBelow = (category: string, wanted: string | undefined) => {
  const leading = wanted?.replace(/\/$/, "")
  return leading === undefined || category === leading || category.startsWith(`${leading}/`)
}

const paged = (
  model: CommodityModel,
  { after, cursorAt, values }: Request<{ readonly category: string | undefined; readonly limit: number }>
) => {
  const last = after?.[0] ?? ""
  const rest = model.products.filter(({ category, slug }) => slug > last && isBelow(category, values.category))
  const page = rest.slice(0, values.limit)
  const end = page.at(-1)
  const next = rest.length > page.length && end !== undefined ? JSON.stringify(cursorAt([end.slug])) : "null"
  return `{"data":[${page.map(({ json }) => json).join(",")}],"next_cursor":${next}}`
}

/** How many calendar years back a metric goes if the call does not say. */
const yearsBack: Readonly<Record<Frequency, number>> = { daily: 1, weekly: 1, biweekly: 1, monthly: 5, annual: 10 }

const rangeOf = ({ frequency, points }: MetricModel, from: string | undefined, to: string | undefined) => {
  const newest = points.days.at(-1)
  const end = to ?? newest ?? null
  const begin = from ?? (newest === undefined || end === null ? null : yearsBefore(end, yearsBack[frequency]))
  return { begin, end }
}

const metricValues = (name: string, metric: MetricModel, from: string | undefined, to: string | undefined) => {
  const { begin, end } = rangeOf(metric, from, to)
  const points = begin === null || end === null ? "[]" : jsonOfRange(metric.points, begin, end)
  const head = { metric_name: name, unit: metric.unit, from: begin, to: end }
  return `${JSON.stringify(head).slice(0, -1)},"points":${points}}`
}

/** Bytes of a name, its unit and its range, without the points. */
const bytesOfHead = 120

/** Names were checked before the credits were held; a name that is missing now is a fault, not an empty answer. */
const known = <A>(catalog: ReadonlyMap<string, A>, name: string): A => {
  const found = catalog.get(name)
  if (found === undefined) throw new Error(`${name} is not in the catalog of the generation that is read`)
  return found
}

export const commodityRoutes: ReadonlyArray<Route> = [
  route(searchCommodities, {
    read: (request, { model: { commodities } }) =>
      Effect.sync(() => {
        const isPaged = pagedParameters.some((name) => request.given.has(name))
        const isGrouped = request.given.has("commodity") || !request.onDataHost
        return isPaged || !isGrouped ? paged(commodities, request) : grouped(commodities, request.values.commodity)
      })
  }),
  route(getCommodityPrices, {
    unknownNames: ({ series }, { commodities }) => {
      const unknown = series.find((slug) => !commodities.series.has(slug))
      return unknown === undefined ? undefined : unknownSeries(unknown)
    },
    expectedBytes: ({ values: { from, series, to } }, { commodities }) =>
      series.reduce(
        (sum, slug) => sum + bytesOfHead + lengthOfRange(known(commodities.series, slug).points, from, to),
        0
      ),
    read: ({ values: { from, series, to } }, { model: { commodities } }) =>
      Effect.sync(() =>
        list(
          series.map((slug) => {
            const { points, record } = known(commodities.series, slug)
            return `{"slug":"${slug}","unit":"${record.unit}","points":${jsonOfRange(points, from, to)}}`
          })
        )
      )
  }),
  route(getCommodityMetricValues, {
    unknownNames: ({ metrics }, { commodities }) => {
      const unknown = metrics.filter((name) => !commodities.metrics.has(name))
      return unknown.length === 0 ? undefined : unknownMetrics(unknown)
    },
    expectedBytes: ({ values: { from, metrics, to } }, { commodities }) =>
      metrics.reduce((sum, name) => {
        const metric = known(commodities.metrics, name)
        const { begin, end } = rangeOf(metric, from, to)
        return sum + bytesOfHead + lengthOfRange(metric.points, begin ?? undefined, end ?? undefined)
      }, 0),
    read: ({ values: { from, metrics, to } }, { model: { commodities } }) =>
      Effect.sync(() => list(metrics.map((name) => metricValues(name, known(commodities.metrics, name), from, to))))
  })
]
