/** Reads a lake in a folder without the code that wrote it: the logs as JSON, and the Parquet files with hyparquet. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"

/** `commodity.observation_version` */
const folderOf = (lake: string, table: string) => path.join(lake, "data", ...table.split("."))
export const logFolderOf = (lake: string, table: string) => path.join(folderOf(lake, table), "_delta_log")
export const commitFileOf = (lake: string, table: string, version: number) =>
  path.join(logFolderOf(lake, table), `${String(version).padStart(20, "0")}.json`)

/** Names of all tables with a log, sorted. */
export const listLakeTables = (lake: string) => {
  const data = path.join(lake, "data")
  if (!existsSync(data)) return []
  return readdirSync(data)
    .flatMap((schema) => readdirSync(path.join(data, schema)).map((name) => `${schema}.${name}`))
    .filter((table) => existsSync(commitFileOf(lake, table, 0)))
    .sort()
}

/** Names of the Parquet files of a table. */
export const listLakeFiles = (lake: string, table: string) =>
  readdirSync(folderOf(lake, table))
    .filter((name) => name.endsWith(".parquet"))
    .sort()

interface Action {
  readonly commitInfo?: { readonly userMetadata: string }
  readonly add?: { readonly path: string; readonly size: number; readonly stats: string; readonly dataChange: boolean }
  readonly remove?: { readonly path: string }
  readonly metaData?: { readonly schemaString: string; readonly description?: string }
}

/** The commits of a table's log, up to a version. They have no gap. */
export const readCommits = (lake: string, table: string, lastVersion = Number.POSITIVE_INFINITY) => {
  const commits: Array<ReadonlyArray<Action>> = []
  for (let version = 0; version <= lastVersion; version++) {
    const file = commitFileOf(lake, table, version)
    if (!existsSync(file)) break
    const lines = readFileSync(file, "utf8").trim().split("\n")
    commits.push(lines.map((line): Action => JSON.parse(line)))
  }
  return commits
}

/** The generation of each version. */
export const readGenerations = (lake: string, table: string) =>
  readCommits(lake, table).map(([first]) => first?.commitInfo?.userMetadata)

/** The version of each table in a generation, for tables that existed then. */
export const versionsIn = (lake: string, generation: string): Readonly<Record<string, number>> => {
  const versions = listLakeTables(lake).map((table) => {
    const upToThen = readGenerations(lake, table).filter((id) => id !== undefined && id <= generation)
    return [table, upToThen.length - 1] as const
  })
  return Object.fromEntries(versions.filter(([, version]) => version >= 0))
}

/** Names of the columns of the newest version. */
export const readColumns = (lake: string, table: string): ReadonlyArray<string> => {
  const metaData = readCommits(lake, table)
    .flat()
    .findLast((action) => action.metaData !== undefined)?.metaData
  const schema: { readonly fields: ReadonlyArray<{ readonly name: string }> } = JSON.parse(metaData?.schemaString ?? "")
  return schema.fields.map(({ name }) => name)
}

/** The files of a version. */
export const filesOf = (lake: string, table: string, version?: number) => {
  const files = new Map<string, NonNullable<Action["add"]>>()
  for (const { add, remove } of readCommits(lake, table, version).flat()) {
    if (remove !== undefined) files.delete(remove.path)
    if (add !== undefined) files.set(add.path, add)
  }
  return [...files.values()]
}

const toPlain = (value: unknown): unknown => {
  if (typeof value === "bigint") return Number(value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (value === null || typeof value !== "object" || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, toPlain(inside)]))
}

/** Reads the rows of a table that its log names. Decimals are numbers. */
export const readDeltaRows = async (lake: string, table: string, version?: number) => {
  const rows: Array<Record<string, unknown>> = []
  for (const { path: name, size, stats } of filesOf(lake, table, version)) {
    const file = await asyncBufferFromFile(path.join(folderOf(lake, table), name))
    const read = await parquetReadObjects({ file, compressors })
    const statistics: { readonly numRecords: number } = JSON.parse(stats)
    if (file.byteLength !== size || read.length !== statistics.numRecords)
      throw new Error(`${name} differs from its log`)
    rows.push(
      ...read.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, toPlain(value)])))
    )
  }
  return rows
}
