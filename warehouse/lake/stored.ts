/** Reads the lake in the depot: the names of its files, and the newest version of each table. */
import { Effect, Option } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { generationId, listNumbers, readManifest } from "../generation/manifest.ts"
import { WarehouseProblem } from "../problem.ts"
import { readCheckpoint } from "./checkpoint.ts"
import { type Action, generationOf, parseActions, replay, type Version } from "./log.ts"
import { checkpointName, commitName, lastOf, listStored, type StoredFile } from "./names.ts"

export interface StoredTable {
  /** `schema.table` */
  readonly table: string
  readonly files: ReadonlyArray<StoredFile>
  /** Undefined if no version was completed. */
  readonly newest: Version | undefined
}

const foreignLake = ({ location }: Depot, fault: string) =>
  new WarehouseProblem({
    problem: `${location}/lake ${fault}. Nothing was changed. Remove this folder so that the next run writes a new lake, or set LARDER_DEPOT to another depot.`
  })

const otherWriter = (depot: Depot, name: string) =>
  foreignLake(depot, `contains ${name}, which this version of Larder did not write, or which is damaged`)

/** Reads a version that follows `last`, or the actions of a checkpoint. */
export const readVersion = Effect.fnUntraced(function* (
  depot: Depot,
  table: string,
  number: number,
  last: Version | undefined,
  checkpoint: ReadonlyArray<Action> = []
) {
  const name = commitName(table, number)
  const text = Option.getOrUndefined(yield* depot.readText(name))
  if (text === undefined)
    return yield* foreignLake(depot, `lacks ${name}, unless another machine has just removed it: run again first`)
  const [first, ...others] = parseActions(text.trimEnd().split("\n")) ?? []
  const version = first?.commitInfo && replay(last, number, [...checkpoint, first, ...others])
  return version ?? (yield* otherWriter(depot, name))
})

/**
 * Reads each log from its last checkpoint on, which has at most ten commits after it unless checkpoints have failed.
 * Returns all tables by `schema.table`, and the time of the newest file. Fails if another program wrote a log.
 */
export const readStored = Effect.fnUntraced(function* (depot: Depot, db: DuckDb["Service"], folder: string) {
  const stored = yield* listStored(depot)
  const readTable = Effect.fnUntraced(function* (table: string, files: ReadonlyArray<StoredFile>) {
    const [from, to] = [lastOf("checkpoint", files), lastOf("commit", files)]
    const checkpoint = from === -1 ? [] : yield* readCheckpoint(depot, db, table, from, folder)
    if (checkpoint === undefined) return yield* otherWriter(depot, checkpointName(table, from))
    let newest: Version | undefined
    // from the commit of the checkpoint on, which names a generation
    for (let number = Math.max(from, 0); number <= to; number++)
      newest = yield* readVersion(depot, table, number, newest, newest === undefined ? checkpoint : [])
    return [table, { table, files, newest } satisfies StoredTable] as const
  })
  const byTable = Map.groupBy(stored, ({ table }) => table)
  const tables = yield* Effect.forEach(byTable, ([table, files]) => readTable(table, files), { concurrency: 8 })
  return {
    tables: new Map<string, StoredTable>(tables),
    newestTime: stored.reduce((newest, { storedAt }) => Math.max(newest, storedAt), 0)
  }
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
  if (manifest?.id === version.info.larder.manifest) return number
  if (manifest === undefined && number < ((yield* listNumbers(depot)).at(-1) ?? 0)) return number
  const difference = manifest === undefined ? "is not in this warehouse" : "differs from this warehouse's"
  return yield* foreignLake(depot, `belongs to another warehouse: its ${generationId(number)} ${difference}`)
})
