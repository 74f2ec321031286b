/** Adds the lines of the operator's catalog to the bundled ones. A new line must not have a name of the bundle. */
import type { Schema } from "effect"
import { BadLine, decodeCells, faultAt, findRepeated, type Located } from "../../run/files/hand-edited.ts"
import { splitTrimmed } from "../conditions.ts"
import { findFaults, type Names, namesIn } from "./faults.ts"
import { type CatalogLines, type FeedLine, MetricLine, ProductLine } from "./lines.ts"
import { type Cells, type OwnCells, readOwnCells, readOwnFeeds } from "./own-feeds.ts"
import type { OwnFile, OwnFiles } from "./own-files.ts"

export interface OwnLines {
  readonly feeds: ReadonlyArray<FeedLine>
  readonly metrics: ReadonlyArray<MetricLine>
  readonly products: ReadonlyArray<ProductLine>
  /** What is added to `states` of bundled feeds. */
  readonly addedStates: ReadonlyArray<{ readonly feed: string; readonly states: string }>
  /** Names of feeds, bundled or own. */
  readonly off: ReadonlyArray<string>
}

const readOwnTable = <const Fields extends Schema.Struct.Fields>(
  own: OwnFile | undefined,
  struct: Schema.Struct<Fields>
) => {
  const cells = readOwnCells(own, Object.keys(struct.fields))
  return { cells, ...decodeCells(cells.rows, struct) }
}

/** Names that the bundle has, or that an earlier line of the file has. */
const findTaken = (
  { rows }: OwnCells,
  column: string,
  noun: string,
  bundled: ReadonlySet<string>
): ReadonlyArray<BadLine> => {
  const isTaken = ({ row }: Located<Cells>) => bundled.has(row[column] ?? "")
  const problem = (name = "") => `${name} is a ${noun} of the bundle: choose another one`
  return [
    ...rows.filter(isTaken).map((line) => faultAt(line, column, problem(line.row[column]))),
    ...findRepeated(rows, column)
  ]
}

interface AllCells {
  readonly feeds: OwnCells
  readonly metrics: OwnCells
  readonly products: OwnCells
}

/** Names of all lines, whatever else is wrong with them. A table with a line that has no cells may have any name. */
const listNames = (bundled: Names, { feeds, metrics, products }: AllCells): Names => {
  const cellsOf = ({ rows }: OwnCells, column: string) => rows.map(({ row }) => row[column] ?? "")
  const ownFeeds = cellsOf(feeds, "feed")
  const ownProducts = cellsOf(products, "slug")
  const feedsOfMetrics = cellsOf(metrics, "feed").flatMap((text) => splitTrimmed(text, "|"))
  const productsOfMetrics = cellsOf(metrics, "product_slug")
  const orAny = ({ faults }: OwnCells, names: ReadonlyArray<string>) => (faults.length > 0 ? names : [])
  return {
    feeds: new Set([...bundled.feeds, ...ownFeeds, ...orAny(feeds, feedsOfMetrics)]),
    products: new Set([...bundled.products, ...ownProducts, ...orAny(products, productsOfMetrics)]),
    feedsOfMetrics: new Set([...bundled.feedsOfMetrics, ...feedsOfMetrics, ...orAny(metrics, ownFeeds)]),
    productsOfMetrics: new Set([...bundled.productsOfMetrics, ...productsOfMetrics, ...orAny(metrics, ownProducts)])
  }
}

const widenStates = (bundle: CatalogLines, addedStates: OwnLines["addedStates"]) => {
  const added = new Map(addedStates.map(({ feed, states }) => [feed, states]))
  return bundle.feeds.map((line) => {
    const states = added.get(line.row.feed)
    return states === undefined ? line : { ...line, row: { ...line.row, states: `${line.row.states}; ${states}` } }
  })
}

const findWholeFault = (cells: AllCells, { feeds }: CatalogLines, off: ReadonlyArray<string>) => {
  const isEmpty = Object.values(cells).every(({ faults, rows }: OwnCells) => rows.length === 0 && faults.length === 0)
  if (isEmpty) return "its files have no line"
  const isAllOff = feeds.every(({ row }) => off.includes(row.feed))
  return isAllOff ? "it switches every feed off: leave one on" : undefined
}

const byPlace = (a: BadLine, b: BadLine) => a.file.localeCompare(b.file, "en") || (a.line ?? 0) - (b.line ?? 0)

/** `lines` is usable only if there is no fault. */
export const addOwnLines = (bundle: CatalogLines, folder: string, { faults, files }: OwnFiles) => {
  const feeds = readOwnFeeds(files.feeds, new Map(bundle.feeds.map(({ row }) => [row.feed, row])))
  const metrics = readOwnTable(files.metrics, MetricLine)
  const products = readOwnTable(files.products, ProductLine)
  const cells = { feeds: feeds.cells, metrics: metrics.cells, products: products.cells }
  const lines: CatalogLines = {
    ...bundle,
    feeds: [...widenStates(bundle, feeds.addedStates), ...feeds.rows],
    metrics: [...bundle.metrics, ...metrics.rows],
    products: [...bundle.products, ...products.rows]
  }
  const own: OwnLines = {
    feeds: feeds.rows.map(({ row }) => row),
    metrics: metrics.rows.map(({ row }) => row),
    products: products.rows.map(({ row }) => row),
    addedStates: feeds.addedStates,
    off: feeds.off
  }
  const metricNames = new Set(bundle.metrics.map(({ row }) => row.metric_name))
  const titles = new Set(bundle.metrics.map(({ row }) => row.title))
  const bundled = namesIn(bundle)
  const whole = faults.length > 0 ? undefined : findWholeFault(cells, lines, feeds.off)
  const all = [
    ...faults,
    ...(whole === undefined ? [] : [new BadLine({ file: folder, line: null, column: null, problem: whole })]),
    ...[cells.feeds, feeds, cells.metrics, metrics, cells.products, products].flatMap((table) => table.faults),
    ...findTaken(cells.metrics, "metric_name", "metric", metricNames),
    ...findTaken(cells.metrics, "title", "title", titles),
    ...findTaken(cells.products, "slug", "product", bundled.products),
    ...findFaults(lines, listNames(bundled, cells))
  ]
  return { lines, own, faults: all.toSorted(byPlace) }
}
