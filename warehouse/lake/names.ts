/** Names of files in the lake, and the times at which they were stored. */
import { Effect } from "effect"
import type { Depot, ObjectId } from "../depot/depot.ts"

const padded = (version: number) => String(version).padStart(20, "0")

const dataFolder = "lake/data/"
/** `table` is `schema.table`. */
export const fileName = (table: string, path: string) => `${dataFolder}${table.replace(".", "/")}/${path}`
export const commitName = (table: string, version: number) => fileName(table, `_delta_log/${padded(version)}.json`)
export const checkpointName = (table: string, version: number) =>
  fileName(table, `_delta_log/${padded(version)}.checkpoint.parquet`)
export const lastCheckpointName = (table: string) => fileName(table, "_delta_log/_last_checkpoint")

/** Relative to the folder of the table. */
export const rowsName = (version: number, { sha256 }: ObjectId) => `${padded(version)}-${sha256}.parquet`
export const sha256In = (path: string) => path.slice(21, 85)

const patterns = [
  ["commit", /^_delta_log\/(\d{20})\.json$/],
  ["checkpoint", /^_delta_log\/(\d{20})\.checkpoint\.parquet$/],
  ["rows", /^(\d{20})-[0-9a-f]{64}\.parquet$/],
  ["hint", /^_delta_log\/_last_checkpoint()$/]
] as const

export interface StoredFile {
  readonly kind: (typeof patterns)[number][0]
  readonly table: string
  readonly name: string
  /** Relative to the folder of the table. */
  readonly path: string
  /** The version in the name; 0 for the hint. A file of rows may belong to a version that was never completed. */
  readonly version: number
  /** By the depot's clock, in milliseconds. */
  readonly storedAt: number
}

/** -1 if there is no such file. */
export const lastOf = (kind: StoredFile["kind"], files: ReadonlyArray<StoredFile>) =>
  files.reduce((last, file) => (file.kind === kind ? Math.max(last, file.version) : last), -1)

/** All files in the lake that Larder may have written. */
export const listStored = (depot: Depot) =>
  Effect.map(depot.listTimes(dataFolder), (times) =>
    [...times].flatMap(([name, storedAt]): ReadonlyArray<StoredFile> => {
      const [, schema, table, path = ""] = /^lake\/data\/([^/]+)\/([^/]+)\/(.+)$/.exec(name) ?? []
      for (const [kind, pattern] of patterns) {
        const version = pattern.exec(path)?.[1]
        if (version !== undefined)
          return [{ kind, name, path, storedAt, table: `${schema}.${table}`, version: Number(version) }]
      }
      return []
    })
  )
