/** Kills runs of `larder-ingest` at moments that are detected in the folders of their home. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { dataSets, layoutOf } from "@larder/warehouse"
import type { Row } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { expect } from "vitest"
import { query, temporaryFolder } from "../end-to-end/ingesting.ts"
import { type Ended, start, waitForExit } from "../support/programs.ts"
import { queryDatabases } from "../support/warehouse/analyst.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"

export const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** The names in the staging folders of runs. */
export const listStaged = (home: string) =>
  namesIn(path.join(home, "staging")).flatMap((run) => namesIn(path.join(home, "staging", run)))

const warehouse = (home: string) => path.join(home, "warehouse")
export const objectsIn = (home: string) =>
  namesIn(path.join(warehouse(home), "objects")).flatMap((group) =>
    namesIn(path.join(warehouse(home), "objects", group)).filter((name) => !name.startsWith("."))
  )

/** Queries the files that people open in a home, as a killed run has left them. */
export const queryFiles = (home: string, ...queries: ReadonlyArray<string>) =>
  layoutOf(home).pipe(
    Effect.map(({ dataSetFile, ingestion }) =>
      [...dataSets.map(({ about }) => dataSetFile(about.pipeline)), ingestion].filter(existsSync)
    ),
    Effect.flatMap((files) => queryDatabases(files, ...queries)),
    Effect.provide(NodeServices.layer),
    Effect.runPromise
  )

/**
 * The staging folder is empty, and each run is recorded once. Stored objects and temporary files of a killed run remain
 * for a day, because a run in progress may still need them. Markers of verified files always remain.
 */
export const expectTidy = async (home: string, runs: number) => {
  expect(namesIn(path.join(home, "staging"))).toEqual([])
  expect(
    listLeftoverFiles(home).filter((name) => !/^(objects\/\w\w\/|generations\/\.|seen\/[0-9a-f]{64}$)/.test(name))
  ).toEqual([])
  const [counts = [], generations = []] = await query(
    home,
    "select count(*)::integer as runs, count(distinct run_id)::integer as ids from ingest.run",
    "select generation from ingest.generation order by generation"
  )
  expect(counts).toEqual([{ runs, ids: runs }])
  expect(generations.length).toBe(
    namesIn(path.join(warehouse(home), "generations")).filter((name) => !name.startsWith(".")).length
  )
}

/** The number of killed runs that the next run records: those that stored their id, but published no generation. */
export const countUnrecorded = (home: string, isPublished: boolean) =>
  isPublished ? 0 : listStaged(home).filter((name) => name === "run.json").length

/** A digest of all rows of a table, without columns that differ between runs. */
export const digestOf = async (home: string, table: string, ...excluded: ReadonlyArray<string>) => {
  const [rows] = await query(
    home,
    `select count(*) || ' rows, ' || bit_xor(hash(content)) as digest
     from (select * exclude (${excluded.join()}) from ${table}) content`
  )
  return rows?.[0]?.digest
}

/** Returns a function that detects whether the moment has come in a home. */
export type Moment = (home: string) => () => boolean

export const appears =
  (exists: (home: string) => boolean): Moment =>
  (home) =>
  () =>
    exists(home)
export const disappears =
  (exists: (home: string) => boolean): Moment =>
  (home) => {
    let existed = false
    return () => {
      const existsNow = exists(home)
      existed ||= existsNow
      return existed && !existsNow
    }
  }

const inodeOf = (file: string) => (existsSync(file) ? statSync(file).ino : undefined)

/** A file that people open is replaced. */
export const changes =
  (name: string): Moment =>
  (home) => {
    const file = path.join(warehouse(home), name)
    const before = inodeOf(file)
    return () => inodeOf(file) !== before
  }
/** The depot has this many more objects. */
export const objectsAppear =
  (count = 1): Moment =>
  (home) => {
    const before = objectsIn(home).length
    return () => objectsIn(home).length >= before + count
  }
const manifestFile = (number: number) => `${String(number).padStart(9, "0")}.json`
export const hasManifest = (home: string, number: number) =>
  existsSync(path.join(warehouse(home), "generations", manifestFile(number)))

/** Runs a pipeline and kills it at the moment. If the moment is missed, the run ends by itself. */
export const runKilled = async (
  home: string,
  args: ReadonlyArray<string>,
  moment: Moment,
  { delay = 0, signal = "SIGKILL" }: { readonly delay?: number; readonly signal?: NodeJS.Signals } = {}
): Promise<Ended> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = waitForExit(child)
  const hasCome = moment(home)
  while (child.exitCode === null && !hasCome()) await setTimeout(1)
  if (delay > 0) await setTimeout(delay)
  child.kill(signal)
  return end
}

/** Waits until all threads have stopped: each completes its system call first. */
const waitUntilStopped = async (pid: number) => {
  if (!existsSync(`/proc/${pid}/task`)) return setTimeout(100)
  const isStopped = (thread: string) => /\) [TtZX] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) await setTimeout(1)
}

export interface KilledHome {
  /** A copy of the home. */
  readonly home: string
  readonly wasRunning: boolean
  /** The rows of a query on the catalogue of the original home. */
  readonly seen: ReadonlyArray<Row>
}

/**
 * Copies of the home as if a run had been killed at each of these moments, in order. The run is stopped at each moment while
 * its home is copied, because a kill changes no file. At the end it is killed. `statement` runs on the catalogue at each moment.
 */
export const copyAtMoments = async (
  home: string,
  args: ReadonlyArray<string>,
  moments: ReadonlyArray<Moment>,
  statement: string
): Promise<ReadonlyArray<KilledHome>> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = waitForExit(child)
  const watched = moments.map((moment) => ({ hasCome: moment(home), cameBefore: false }))
  const copies: Array<KilledHome> = []
  for (const [index, moment] of watched.entries()) {
    const isRunning = () => child.exitCode === null && child.signalCode === null
    const hasCome = () => {
      for (const later of watched.slice(index)) later.cameBefore ||= later.hasCome()
      return moment.cameBefore
    }
    while (!hasCome() && isRunning()) await setTimeout(1)
    const wasRunning = isRunning()
    if (wasRunning && child.pid !== undefined) {
      child.kill("SIGSTOP")
      await waitUntilStopped(child.pid)
    }
    const copy = temporaryFolder()
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
    const [rows = []] = await query(home, statement)
    copies.push({ home: copy, wasRunning, seen: rows })
    child.kill("SIGCONT")
  }
  child.kill("SIGKILL")
  await end
  return copies
}
