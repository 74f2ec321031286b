/** Reads the lake in the depot: the names of its files, and the newest version of each table. */
import { Effect, Option } from "effect"
import type { Depot } from "../depot/depot.ts"
import { generationId, listNumbers, readManifest } from "../generation/manifest.ts"
import { WarehouseProblem } from "../problem.ts"
import { generationOf, parseVersion, type Version } from "./log.ts"

const dataFolder = "lake/data/"
/** `table` is `schema.table`. */
export const fileName = (table: string, path: string) => `${dataFolder}${table.replace(".", "/")}/${path}`
const logFileName = (table: string, version: number, extension: string) =>
  fileName(table, `_delta_log/${String(version).padStart(20, "0")}.${extension}`)
export const commitName = (table: string, version: number) => logFileName(table, version, "json")
export const checkpointName = (table: string, version: number) => logFileName(table, version, "checkpoint.parquet")
export const lastCheckpointName = (table: string) => fileName(table, "_delta_log/_last_checkpoint")

interface StoredFile {
  readonly kind: "commit" | "checkpoint" | "rows"
  readonly name: string
  /** Relative to the folder of the table. */
  readonly path: string
  /** The version in the name. A file of rows may belong to a version that was never completed. */
  readonly version: number
  /** By the depot's clock. */
  readonly storedAt: number
}

export interface StoredTable {
  readonly table: string
  readonly files: ReadonlyArray<StoredFile>
  /** Undefined if no version was completed. */
  readonly newest: Version | undefined
  /** When the hint that names a checkpoint was written; 0 if there is none. */
  readonly hintStoredAt: number
}

const patterns = [
  ["commit", /^_delta_log\/(\d{20})\.json$/],
  ["checkpoint", /^_delta_log\/(\d{20})\.checkpoint\.parquet$/],
  ["rows", /^(\d{20})-[0-9a-f]{64}\.parquet$/]
] as const

const parseName = (name: string) => {
  const [, schema, table, path = ""] = /^lake\/data\/([^/]+)\/([^/]+)\/(.+)$/.exec(name) ?? []
  for (const [kind, pattern] of patterns) {
    const version = pattern.exec(path)?.[1]
    if (version !== undefined) return { kind, path, table: `${schema}.${table}`, version: Number(version) }
  }
  return undefined
}

const foreignLake = ({ location }: Depot, fault: string) =>
  new WarehouseProblem({
    problem: `${location}/lake ${fault}. Nothing was changed. Remove this folder so that the next run writes a new lake, or set LARDER_DEPOT to another depot.`
  })

export const readVersion = Effect.fnUntraced(function* (depot: Depot, table: string, number: number) {
  const name = commitName(table, number)
  const version = parseVersion(
    number,
    Option.getOrElse(yield* depot.readText(name), () => "")
  )
  if (version !== undefined) return version
  return yield* foreignLake(
    depot,
    `contains ${name}, which names no generation: this version of Larder did not write it`
  )
})

/** All tables in the lake, by `schema.table`, and the time of the newest file. Fails if another program wrote one. */
export const readStored = Effect.fnUntraced(function* (depot: Depot) {
  const times = yield* depot.listTimes(dataFolder)
  const files = [...times].flatMap(([name, storedAt]) => {
    const parsed = parseName(name)
    return parsed === undefined ? [] : [{ ...parsed, name, storedAt }]
  })
  const read = Effect.fnUntraced(function* ([table, files]: readonly [string, ReadonlyArray<StoredFile>]) {
    const number = files.reduce(
      (newest, { kind, version }) => (kind === "commit" ? Math.max(newest, version) : newest),
      -1
    )
    const newest = number === -1 ? undefined : yield* readVersion(depot, table, number)
    const hintStoredAt = times.get(lastCheckpointName(table)) ?? 0
    return [table, { table, files, newest, hintStoredAt } satisfies StoredTable] as const
  })
  const tables = yield* Effect.forEach(
    Map.groupBy(files, ({ table }) => table),
    read,
    { concurrency: 8 }
  )
  const newestTime = [...times.values()].reduce((a, b) => Math.max(a, b), 0)
  return { tables: new Map<string, StoredTable>(tables), newestTime }
})

/**
 * The number of the newest generation in the lake; 0 if it is new. Fails if the warehouse has another generation under this
 * number, or never made it. A missing manifest that is older than the newest one was removed.
 */
export const findNewestGeneration = Effect.fnUntraced(function* (depot: Depot, tables: Iterable<StoredTable>) {
  const versions = [...tables].flatMap(({ newest }) => (newest === undefined ? [] : [newest]))
  const [version] = versions.sort((a, b) => generationOf(b) - generationOf(a))
  if (version === undefined) return 0
  const number = generationOf(version)
  const manifest = yield* readManifest(depot, number)
  if (Option.isSome(manifest) && manifest.value.id === version.info.larder.manifest) return number
  if (Option.isNone(manifest) && number < ((yield* listNumbers(depot)).at(-1) ?? 0)) return number
  const difference = Option.isSome(manifest) ? "differs from this warehouse's" : "is not in this warehouse"
  return yield* foreignLake(depot, `belongs to another warehouse: its ${generationId(number)} ${difference}`)
})
