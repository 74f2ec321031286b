/**
 * What a user would do instead of the search, over the same texts: a scan in DuckDB, SQLite's FTS5 with trigrams,
 * PostgreSQL with `pg_trgm`. They index names and ingredients and answer with ids; Larder's build holds all filters and the
 * records, and it answers whole records over HTTP and charges for them.
 */
import { chmodSync, mkdirSync, rmSync } from "node:fs"
import path from "node:path"
import { startServer } from "../../support/programs.ts"
import { rounded, spreadOf } from "../statistics.ts"
import { askAll } from "./ask.ts"
import { writeLines } from "./lines.ts"
import { measurePostgres } from "./postgres-trigrams.ts"
import { scansOf } from "./scans.ts"
import { megabytes, partsBeside } from "./sizes.ts"
import { kinds as described, type Kind, type Texts } from "./texts.ts"
import { answered, timedScript } from "./timed.ts"
import type { Warehouse } from "./warehouse.ts"

export interface Told {
  /** New, for what is built. */
  readonly file: string
  readonly lines: string
  readonly texts: Readonly<Record<string, ReadonlyArray<string>>>
}

export interface Alternative {
  /** Building the index. */
  readonly seconds: number
  /** Of the index alone. */
  readonly bytes: number
  /** Milliseconds by kind of text. */
  readonly took: Readonly<Record<string, ReadonlyArray<number>>>
}

interface Options {
  readonly folder: string
  readonly home: string
  readonly key: string
  /** Of the foods. */
  readonly database: string
  readonly warehouse: Warehouse
  /** Of ingredients. */
  readonly texts: Texts
}

/** Without short texts: of less than three characters FTS5 finds nothing, and PostgreSQL reads the whole index or table. */
const kinds = ["rare", "medium", "common", "absent", "comma", "apart"] as const satisfies ReadonlyArray<Kind>
const perKind = 12

const measureLarder = async ({ database, folder, home, key }: Options, texts: Told["texts"]) => {
  const again = path.join(folder, "foods-again")
  const server = await startServer(home)
  try {
    const { seconds } = await timedScript("search-files.ts", { folder: again, database })
    const took: Record<string, ReadonlyArray<number>> = {}
    for (const [kind, some] of Object.entries(texts)) {
      took[kind] = await askAll({ api: server.api, key, connections: 1 }, some, async (text, get) => {
        const query = new URLSearchParams({ ingredient: text })
        return (await get(`/v1/branded-foods?${query}`)).milliseconds
      })
    }
    const ofSearch = partsBeside(home).filter(({ name }) => !name.startsWith("records."))
    const bytes = ofSearch.reduce((sum, part) => sum + part.bytes, 0)
    return { seconds, bytes, took } satisfies Alternative
  } finally {
    await server.stop()
    rmSync(again, { recursive: true, force: true })
  }
}

const measureScan = async (warehouse: Warehouse, texts: Told["texts"]) => {
  const took: Record<string, ReadonlyArray<number>> = {}
  for (const [kind, some] of Object.entries(texts)) {
    const scans = await scansOf(warehouse, "ingredients", some)
    took[kind] = scans.map(({ milliseconds }) => milliseconds)
  }
  return { seconds: 0, bytes: 0, took } satisfies Alternative
}

const spreadText = (milliseconds: ReadonlyArray<number> = []) => {
  const { p50_ms, p99_ms } = spreadOf(milliseconds)
  return milliseconds.length === 0 ? "no such texts" : `${p50_ms} / ${p99_ms}`
}

const printTables = (measured: Readonly<Record<string, Alternative>>) => {
  const entries = Object.entries(measured)
  const built = entries.map(([name, { bytes, seconds }]) => [
    name,
    { "build, s": rounded(seconds), "index, MB": megabytes(bytes) }
  ])
  console.table(Object.fromEntries(built))
  console.log("p50 / p99 in ms, one search at a time")
  const rows = kinds.map((kind) => [
    described[kind],
    Object.fromEntries(entries.map(([name, { took }]) => [name, spreadText(took[kind])]))
  ])
  console.table(Object.fromEntries(rows))
}

export const compareAlternatives = async (options: Options) => {
  const { database, folder, warehouse } = options
  const texts = Object.fromEntries(kinds.map((kind) => [kind, options.texts[kind].slice(0, perKind)]))
  const made = path.join(folder, "alternatives")
  const told = { texts, lines: path.join(made, "labels.lines"), file: path.join(made, "sqlite.db") }
  mkdirSync(made)
  try {
    const larder = await measureLarder(options, texts)
    const scan = await measureScan(warehouse, texts)
    await writeLines(database, told.lines)
    for (const open of [folder, made]) chmodSync(open, 0o755) // PostgreSQL may run as another user
    chmodSync(told.lines, 0o644)
    const sqlite = await answered<Alternative>("sqlite.ts", told)
    rmSync(told.file)
    const postgres = await measurePostgres(told)
    printTables({ "larder-serve": larder, "DuckDB ILIKE": scan, "SQLite FTS5": sqlite, "PostgreSQL pg_trgm": postgres })
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
