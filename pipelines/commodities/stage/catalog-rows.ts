/** The catalog as rows of the warehouse. */
import { units } from "@larder/schemas"
import { metricTable, productTable, seriesTable } from "@larder/warehouse"
import type { Catalog, Feed } from "../catalog.ts"
import { joinNotes } from "../notes.ts"

/** No report adjusts its numbers. */
const notSeasonallyAdjusted = "Not seasonally adjusted"

const productRows = ({ products }: Catalog) =>
  products.map(({ attributes, category, details, slug }) => ({
    slug,
    category,
    attributes: JSON.stringify(attributes),
    details: JSON.stringify(details)
  }))

const seriesRows = ({ series }: Catalog) => series.map((line, index) => ({ ...line, position: index + 1 }))

/** Until the merge counts the values. */
const noValues = { observations: 0, publications: 0 }

const capitalise = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** `Daily`, or `Weekly, ending Friday` */
const frequencyText = ({ ending_weekday, frequency }: Feed) =>
  [capitalise(frequency), ...(ending_weekday === "" ? [] : [`ending ${ending_weekday}`])].join(", ")

/** `measures`: the columns that metrics were actually read from. Before the first read, the documented name is used. */
const metricRows = ({ feedsByName, metrics, notes }: Catalog, measures: ReadonlyMap<string, string>) =>
  metrics.flatMap((metric) => {
    const {
      column,
      ended_on,
      freight,
      licence,
      market_level,
      metric_name,
      printed,
      product_slug,
      region,
      title,
      unit
    } = metric
    const [feed, ...others] = metric.feeds.flatMap((name) => feedsByName.get(name) ?? [])
    if (feed === undefined) return []
    const final = others.find(({ revision_status }) => revision_status === "final")
    return [
      {
        metric_name,
        title,
        notes: joinNotes(notes, metric, feed),
        measure: measures.get(metric_name) ?? column.name,
        unit,
        unit_text: units[unit].text,
        aggregation: units[unit].aggregation,
        region,
        market_level,
        freight,
        frequency: feed.frequency,
        frequency_text: frequencyText(feed),
        publishes_on: feed.publishes_on,
        printed,
        seasonal_adjustment: notSeasonallyAdjusted,
        source: feed.source,
        product_slug,
        report: feed.title,
        feed: feed.feed,
        final_feed: final?.feed ?? null,
        final_publishes_on: final?.publishes_on ?? null,
        licence,
        ended_on,
        ...noValues
      }
    ]
  })

export const catalogRows = (catalog: Catalog, measures: ReadonlyMap<string, string>) =>
  [
    { table: productTable, rows: productRows(catalog) },
    { table: metricTable, rows: metricRows(catalog, measures) },
    { table: seriesTable, rows: seriesRows(catalog) }
  ] as const
