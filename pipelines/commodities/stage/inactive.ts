/**
 * What runs no longer read: feeds that the operator's catalog switches off, and feeds and metrics whose line is gone. A
 * metric with published values keeps its row, with its product, so that no value is lost.
 */
import { commodity, inactiveTable, type Layout, metricTable, productTable, readLive } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import { loadCatalog } from "../catalog/in-force.ts"
import type { Catalog } from "../catalog.ts"

const Texts = Schema.Record(Schema.String, Schema.NullOr(Schema.String))
const Feed = Schema.Struct({ feed: Schema.String })
const derived = metricTable.merge.by === "replace all" ? (metricTable.merge.derived?.columns ?? []) : []
const metricsQuery = `
  select columns(* exclude (${derived.join(", ")}))::varchar from commodity.metric where observations > 0`
const productsQuery = "select columns(*)::varchar from commodity.product"
const feedsQuery = "select distinct feed from ingest.raw_file where pipeline = 'commodities'"

const nothingLive = { metrics: [], products: [], feeds: [] }

/** Live metrics with values, their products, and feeds that were read, of which the catalog has no line. */
export const findWithoutLine = Effect.fnUntraced(function* (
  { layout }: Pick<RunContext, "layout">,
  { feedsByName, metrics, products }: Catalog
) {
  const live = yield* readLive(layout, commodity, nothingLive, (db) =>
    Effect.all({
      metrics: db.all(Texts, metricsQuery),
      products: db.all(Texts, productsQuery),
      feeds: db.all(Feed, feedsQuery)
    })
  )
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  const slugs = new Set(products.map(({ slug }) => slug))
  const kept = live.metrics.filter(({ metric_name }) => !names.has(metric_name ?? ""))
  const needed = new Set(kept.map(({ product_slug }) => product_slug))
  return {
    metrics: kept,
    products: live.products.filter(({ slug = null }) => needed.has(slug) && !slugs.has(slug ?? "")),
    feeds: live.feeds.map(({ feed }) => feed).filter((feed) => !feedsByName.has(feed))
  }
})

const maxNames = 3

/** The metrics with values that a rebuild loses, because nothing says how to read their payloads. */
export const describeRebuildLoss = Effect.fnUntraced(function* (layout: Layout) {
  const { metrics } = yield* findWithoutLine({ layout }, yield* loadCatalog)
  if (metrics.length === 0) return undefined
  const names = metrics.map(({ metric_name }) => metric_name ?? "").sort()
  const shown = names.slice(0, maxNames).join(", ") + (names.length > maxNames ? ", …" : "")
  const count = names.length === 1 ? "1 metric with values has" : `${names.length} metrics with values have`
  return `${count} no line in the catalog (${shown}). To keep their values, set LARDER_CATALOG to a folder with their lines, and run again. A rebuild without these lines leaves the values out; their payloads stay in the raw archive.`
})

const lineGone =
  "Neither LARDER_CATALOG nor this version of Larder has a line of it: no run reads it, and its values stay."

export const stageInactive = Effect.fnUntraced(function* (run: RunContext, catalog: Catalog) {
  const withoutLine = yield* findWithoutLine(run, catalog)
  const isOff = (feed = "") => catalog.feedsByName.get(feed)?.isOff === true
  const off = [
    ...catalog.feeds.filter((feed) => feed.isOff).map(({ feed }) => ({ subject: feed, kind: "feed", feed })),
    ...catalog.metrics.flatMap(({ feeds: [feed = ""], metric_name: subject }) =>
      isOff(feed) ? [{ subject, kind: "metric", feed }] : []
    )
  ]
  const gone = [
    ...withoutLine.feeds.map((subject) => ({ subject, kind: "feed" })),
    ...withoutLine.metrics.map(({ metric_name }) => ({ subject: metric_name ?? "", kind: "metric" }))
  ]
  const { staging } = run
  yield* staging.add(
    metricTable,
    withoutLine.metrics.map((metric) => ({ ...metric, observations: 0, publications: 0 }))
  )
  yield* staging.add(productTable, withoutLine.products)
  yield* staging.add(inactiveTable, [
    ...off.map(({ feed, kind, subject }) => ({
      subject,
      kind,
      why: `LARDER_CATALOG switches ${feed} off: no run reads it, and its values stay.`
    })),
    ...gone.map((line) => ({ ...line, why: lineGone }))
  ])
})
