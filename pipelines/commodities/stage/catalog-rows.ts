/** The catalog as rows of the warehouse. */
import { metricTable, productTable, seriesTable } from "@larder/warehouse"
import type { Catalog } from "../catalog.ts"

const productRows = ({ products }: Catalog) =>
  products.map(({ attributes, category, details, slug }) => ({
    slug,
    category,
    attributes: JSON.stringify(attributes),
    details: JSON.stringify(details)
  }))

const seriesRows = ({ series }: Catalog) => series.map((line, index) => ({ ...line, position: index + 1 }))

/** `measures`: the columns that metrics were actually read from. Before the first read, the documented name is used. */
const metricRows = ({ feedsByName, metrics }: Catalog, measures: ReadonlyMap<string, string>) =>
  metrics.flatMap(({ column, feeds, freight, licence, market_level, metric_name, product_slug, region, unit }) => {
    const feed = feedsByName.get(feeds[0] ?? "")
    if (feed === undefined) return []
    const measure = measures.get(metric_name) ?? column.name
    const report = { frequency: feed.frequency, source: feed.source, report: feed.title, feed: feed.feed, licence }
    return [{ metric_name, measure, unit, region, market_level, freight, product_slug, ...report }]
  })

export const catalogRows = (catalog: Catalog, measures: ReadonlyMap<string, string>) =>
  [
    { table: productTable, rows: productRows(catalog) },
    { table: metricTable, rows: metricRows(catalog, measures) },
    { table: seriesTable, rows: seriesRows(catalog) }
  ] as const
