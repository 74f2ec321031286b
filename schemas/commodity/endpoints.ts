/** The commodity data set as the API presents it, with its three endpoints. */
import { Schema } from "effect"
import { invalid } from "../api-errors.ts"
import { type ApiDataSet, checkRange, endpoint, fromAfterTo, ListBody, PageBody } from "../endpoint.ts"
import { cursor, day, limit, list, text } from "../parameters.ts"
import * as examples from "./examples.ts"
import { CatalogEntry, CommodityProduct, MetricValues, PriceResult, SeriesGroup } from "./records.ts"

/** Parameters whose presence alone, even empty, selects the paged shape. */
export const pagedParameters: ReadonlyArray<string> = ["category", "limit", "cursor"]

const bothShapes = invalid("parameters_conflict", "commodity cannot be combined with category, limit or cursor")
/** The 400 for the first requested series that is not in the catalog. */
export const unknownSeries = (slug: string) => invalid("unknown_series", `Unknown series: ${slug}`)
/** The 400 for all requested metrics that are not in the catalog, in requested order. */
export const unknownMetrics = (names: ReadonlyArray<string>) =>
  invalid("unknown_metrics", `Unknown metrics: ${names.join(", ")}`)

export const searchCommodities = endpoint({
  id: "searchCommodities",
  path: "/v1/commodities",
  scope: "search-commodities",
  credits: 10,
  tag: "Commodities",
  summary: "The catalog of commodity series and products",
  description:
    "Lists the available numbers, with their units and the days that they cover; the two endpoints below return the numbers themselves. The response has one of two shapes. With `commodity`, or without parameters, it is the 24 curated series, grouped by commodity: start here. With `category`, `limit` or `cursor`, even if these are empty, it is a page of products with all their metrics, including regional and international reports, ordered by slug. The two kinds of parameters cannot be combined. On the data host, if a server has one, a call without parameters returns the paged shape.",
  use: 'Use it first for commodity prices. `commodity`, such as "butter", finds the slugs for get_commodity_prices; `category`, such as "dairy", finds the metric names for get_commodity_metric_values. The catalog is small and changes rarely: call it once, and keep the names that you need.',
  parameters: {
    commodity: text({
      description:
        "Grouped shape: returns series whose commodity name or slug contains the text, ignoring case; a group whose name matches is returned whole.",
      example: "butter"
    }),
    category: text({
      description:
        "Paged shape: a category path or its leading segments, such as `dairy/butter`; case-sensitive, a trailing slash is ignored."
    }),
    limit: limit({
      description: "Paged shape: products per page; 100 by default.",
      default: 100,
      isShapeSelector: true,
      maximum: 500,
      aboveMaximum: invalid("limit_too_large", "limit must be at most 500")
    }),
    cursor
  },
  rule: (_values, query) =>
    query.has("commodity") && pagedParameters.some((name) => query.has(name)) ? bothShapes : undefined,
  response: Schema.Union([ListBody(SeriesGroup), PageBody(CommodityProduct)]),
  documented: Schema.Struct({
    data: ListBody(CatalogEntry).fields.data,
    next_cursor: Schema.optionalKey(PageBody(CommodityProduct).fields.next_cursor)
  }),
  examples: examples.searchCommoditiesExamples,
  refusals: [bothShapes]
})

const from = day({ description: "First date included.", example: "2024-01-01" })
const to = day({ description: "Last date included.", example: "2024-12-31" })

export const getCommodityPrices = endpoint({
  id: "getCommodityPrices",
  path: "/v1/commodities/prices",
  scope: "get-commodity-prices",
  credits: 10,
  tag: "Commodities",
  summary: "Readings of one to a hundred series",
  description:
    "One entry per requested slug, in the requested order; a range without readings has no points. Without `from`, the range starts at the first reading; without `to`, it ends at the latest. One slug that is not in the catalog fails the whole request. The price does not depend on the number of series, so request many at once.",
  use: "Use it for dated prices of dairy series (butter, cheese, nonfat dry milk, dry whey, milk classes). Slugs come from search_commodities. Request many series in one call, which costs the same as one series; narrow `from` and `to`, a daily series has thousands of readings.",
  parameters: {
    series: list({ description: "1 to 100 slugs, separated by commas.", example: "butter-sales-price-weekly" }),
    from,
    to
  },
  rule: checkRange,
  response: ListBody(PriceResult),
  examples: examples.getCommodityPricesExamples,
  refusals: [unknownSeries("<slug>"), fromAfterTo]
})

export const getCommodityMetricValues = endpoint({
  id: "getCommodityMetricValues",
  path: "/v1/commodities/metric-values",
  scope: "get-commodity-prices",
  credits: 10,
  tag: "Commodities",
  summary: "Readings of one to a hundred metrics",
  description:
    "One entry per requested metric, in the requested order, with its effective range. Without `to`, the range ends at each metric's newest value. Without `from`, it starts 1 year before `to`, or before the newest value, for daily, weekly and biweekly metrics, 5 years before it for monthly metrics and 10 years before it for annual ones. A very early date gives the full history. Names that are not in the catalog fail the whole request, and the message lists them. The price does not depend on the number of metrics.",
  use: "Use it for the wider list of dairy metrics: other regions, price ranges, other products. Metric names come from search_commodities with `category`. Request many metrics in one call, which costs the same as one metric.",
  parameters: {
    metrics: list({ description: "1 to 100 metric names, separated by commas.", example: "butter_sales_price_weekly" }),
    from,
    to
  },
  rule: checkRange,
  response: ListBody(MetricValues),
  examples: examples.getCommodityMetricValuesExamples,
  refusals: [unknownMetrics(["<names>"]), fromAfterTo]
})

export const commodities = {
  pipeline: "commodities",
  tag: "Commodities",
  contents: "commodity prices",
  origin: "dairy commodity prices of US government reports",
  about: `Dairy prices that US government reports publish: butter, cheese, nonfat dry milk, dry whey and the milk classes as 24 curated series, and these series, together with regional and international reports, as metrics.

Source: the US Department of Agriculture, through My Market News (\`gov-mars\`) and Datamart (\`gov-mpr\`). Spot prices are published every trading day, survey and regional reports every week or two, milk classes every month. Reports restate earlier weeks: a revised number replaces the old one. Days without a reading are left out, never filled. A \`usd_per_lb_basis\` is a difference from the exchange price, not a price.`,
  firstCall: "commodities/prices?series=cheese-block-sales-price-weekly&from=2026-08-01",
  endpoints: [searchCommodities, getCommodityPrices, getCommodityMetricValues]
} as const satisfies ApiDataSet
