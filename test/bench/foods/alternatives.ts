/**
 * Compares the search with alternatives over the same texts: a scan in DuckDB, SQLite's FTS5 with trigrams, PostgreSQL
 * with `pg_trgm`. These index names and ingredients and return ids. Larder indexes all filters, and returns complete
 * records over HTTP and charges for them.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { startServer } from "../../support/programs.ts"
import { describeSpread, roundTo } from "../statistics.ts"
import { callAll } from "./calls.ts"
import { writeLines } from "./lines.ts"
import { measurePostgres } from "./postgres-trigrams.ts"
import { measureScript, runScript } from "./processes.ts"
import { measureScans } from "./scans.ts"
import { sidecarParts, toMegabytes } from "./sizes.ts"
import { kinds as descriptions, type Kind, type Texts } from "./texts.ts"
import type { Warehouse } from "./warehouse.ts"

/** Argument of the scripts. */
export interface Task {
  /** New file for the index. */
  readonly file: string
  readonly lines: string
  readonly texts: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface Alternative {
  /** Duration of building the index. */
  readonly seconds: number
  /** Size of only the index. */
  readonly bytes: number
  /** By kind of text. */
  readonly milliseconds: Readonly<Record<string, ReadonlyArray<number>>>
}

interface Options {
  readonly folder: string
  readonly home: string
  readonly key: string
  /** Database of the foods. */
  readonly database: string
  readonly warehouse: Warehouse
  /** Texts of ingredients. */
  readonly texts: Texts
}

/** Without short texts: for less than three characters FTS5 finds nothing, and PostgreSQL reads the whole index or table. */
const kinds = ["rare", "medium", "common", "absent", "comma", "apart"] as const satisfies ReadonlyArray<Kind>
const perKind = 12

const measureLarder = async ({ database, folder, home, key }: Options, texts: Task["texts"]) => {
  const rebuilt = path.join(folder, "foods-rebuilt")
  const server = await startServer(home)
  try {
    const { seconds } = await measureScript("search-files.ts", { folder: rebuilt, database })
    const milliseconds: Record<string, ReadonlyArray<number>> = {}
    for (const [kind, textsOfKind] of Object.entries(texts)) {
      milliseconds[kind] = await callAll({ api: server.api, key, connections: 1 }, textsOfKind, async (text, get) => {
        const query = new URLSearchParams({ ingredient: text })
        return (await get(`/v1/branded-foods?${query}`)).milliseconds
      })
    }
    const searchParts = sidecarParts(home).filter(({ name }) => !name.startsWith("records."))
    const bytes = searchParts.reduce((sum, part) => sum + part.bytes, 0)
    return { seconds, bytes, milliseconds } satisfies Alternative
  } finally {
    await server.stop()
    rmSync(rebuilt, { recursive: true, force: true })
  }
}

const measureScan = async (warehouse: Warehouse, texts: Task["texts"]) => {
  const milliseconds: Record<string, ReadonlyArray<number>> = {}
  for (const [kind, textsOfKind] of Object.entries(texts)) {
    const scans = await measureScans(warehouse, "ingredients", textsOfKind)
    milliseconds[kind] = scans.map((scan) => scan.milliseconds)
  }
  return { seconds: 0, bytes: 0, milliseconds } satisfies Alternative
}

const formatSpread = (milliseconds: ReadonlyArray<number> = []) => {
  const { p50_ms, p99_ms } = describeSpread(milliseconds)
  return milliseconds.length === 0 ? "no such texts" : `${p50_ms} / ${p99_ms}`
}

const printTables = (measured: Readonly<Record<string, Alternative>>) => {
  const entries = Object.entries(measured)
  const sizes = entries.map(([name, { bytes, seconds }]) => [
    name,
    { "build, s": roundTo(seconds), "index, MB": toMegabytes(bytes) }
  ])
  console.table(Object.fromEntries(sizes))
  console.log("p50 / p99 in ms, one search at a time")
  const rows = kinds.map((kind) => [
    descriptions[kind],
    Object.fromEntries(entries.map(([name, { milliseconds }]) => [name, formatSpread(milliseconds[kind])]))
  ])
  console.table(Object.fromEntries(rows))
}

export const compareAlternatives = async (options: Options) => {
  const { database, folder, warehouse } = options
  const texts = Object.fromEntries(kinds.map((kind) => [kind, options.texts[kind].slice(0, perKind)]))
  const built = path.join(folder, "alternatives")
  const task = { texts, lines: path.join(built, "labels.lines"), file: path.join(built, "sqlite.db") }
  mkdirSync(built)
  try {
    const larder = await measureLarder(options, texts)
    const scan = await measureScan(warehouse, texts)
    await writeLines(database, task.lines)
    for (const directory of [folder, built]) chmodSync(directory, 0o755) // PostgreSQL may run as another user
    chmodSync(task.lines, 0o644)
    const sqlite = await runScript<Alternative>("sqlite.ts", task)
    rmSync(task.file)
    const postgres = await measurePostgres(task)
    printTables({ "larder-serve": larder, "DuckDB ILIKE": scan, "SQLite FTS5": sqlite, "PostgreSQL pg_trgm": postgres })
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}
