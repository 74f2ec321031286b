/** Runs of `larder-ingest` that are ended at moments which are seen in the folders of their home. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { dataSets, layoutOf, type Row } from "@larder/warehouse"
import { Effect } from "effect"
import { expect } from "vitest"
import { query, temporaryFolder } from "../end-to-end/ingesting.ts"
import { type Ended, start, waitForExit } from "../support/programs.ts"
import { queryDatabases } from "../support/warehouse/analyst.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"

export const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** What runs have in their staging folders. */
export const staged = (home: string) =>
  namesIn(path.join(home, "staging")).flatMap((run) => namesIn(path.join(home, "staging", run)))

const warehouse = (home: string) => path.join(home, "warehouse")
export const objectsIn = (home: string) =>
  namesIn(path.join(warehouse(home), "objects")).flatMap((group) =>
    namesIn(path.join(warehouse(home), "objects", group)).filter((name) => !name.startsWith("."))
  )

/** Rows in the files that people open in a home, each as it lies there, while whatever made them may have been killed. */
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
 * No temporary file of a run is left, and each run is recorded once. Only objects that a killed run had put stay for a
 * day: nobody knows that it will not name them.
 */
export const expectTidy = async (home: string, runs: number) => {
  expect(namesIn(path.join(home, "staging"))).toEqual([])
  expect(
    listLeftoverFiles(home).filter((name) => !/^(objects\/\w\w\/|generations\/\.|seen\/[0-9a-f]{64}$)/.test(name))
  ).toEqual([])
  const [told = [], generations = []] = await query(
    home,
    "select count(*)::integer as runs, count(distinct run_id)::integer as ids from ingest.run",
    "select generation from ingest.generation order by generation"
  )
  expect(told).toEqual([{ runs, ids: runs }])
  expect(generations.length).toBe(
    namesIn(path.join(warehouse(home), "generations")).filter((name) => !name.startsWith(".")).length
  )
}

/** How many killed runs the next one will record: those that wrote which run they are, and made no generation. */
export const untold = (home: string, isPublished: boolean) =>
  isPublished ? 0 : staged(home).filter((name) => name === "run.json").length

/** All rows of a table in one number, without what differs from run to run. */
export const digestOf = async (home: string, table: string, ...ofRun: ReadonlyArray<string>) => {
  const [rows] = await query(
    home,
    `select count(*) || ' rows, ' || bit_xor(hash(of)) as digest from (select * exclude (${ofRun.join()}) from ${table}) of`
  )
  return rows?.[0]?.digest
}

/** Answers how to tell whether the moment has come in a home. */
export type Moment = (home: string) => () => boolean

export const appears =
  (isThere: (home: string) => boolean): Moment =>
  (home) =>
  () =>
    isThere(home)
export const goes =
  (isThere: (home: string) => boolean): Moment =>
  (home) => {
    let wasThere = false
    return () => {
      const there = isThere(home)
      wasThere ||= there
      return wasThere && !there
    }
  }

const inodeOf = (file: string) => (existsSync(file) ? statSync(file).ino : undefined)

/** A file that people open is another one. */
export const changes =
  (name: string): Moment =>
  (home) => {
    const file = path.join(warehouse(home), name)
    const before = inodeOf(file)
    return () => inodeOf(file) !== before
  }
/** The depot has so many objects more. */
export const objectsAppear =
  (count = 1): Moment =>
  (home) => {
    const before = objectsIn(home).length
    return () => objectsIn(home).length >= before + count
  }
const manifestFile = (number: number) => `${String(number).padStart(9, "0")}.json`
export const hasManifest = (home: string, number: number) =>
  existsSync(path.join(warehouse(home), "generations", manifestFile(number)))

/** Runs a pipeline, waits for the moment, and kills. A run that is over before it is seen has ended by itself. */
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

/** A signal is sent before it has arrived: each thread ends its system call first. */
const standsStill = async (pid: number) => {
  if (!existsSync(`/proc/${pid}/task`)) return setTimeout(100)
  const isStopped = (thread: string) => /\) [TtZX] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8"))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped)) await setTimeout(1)
}

export interface Left {
  /** A copy of the home. */
  readonly home: string
  readonly wasRunning: boolean
  /** What an analyst saw of the home itself, through the catalogue. */
  readonly seen: ReadonlyArray<Row>
}

/**
 * What a run leaves if it is killed at each of these moments, in their order. It stands still at each while its home is copied:
 * a kill changes no file. In the end it is killed. `seen` is asked of the catalogue at each.
 */
export const leftAt = async (
  home: string,
  args: ReadonlyArray<string>,
  moments: ReadonlyArray<Moment>,
  seen: string
): Promise<ReadonlyArray<Left>> => {
  const child = start("larder-ingest", [...args, "--json"], { LARDER_HOME: home })
  const end = waitForExit(child)
  const watched = moments.map((moment) => ({ hasCome: moment(home), cameBefore: false }))
  const left: Array<Left> = []
  for (const [index, moment] of watched.entries()) {
    const isRunning = () => child.exitCode === null && child.signalCode === null
    const look = () => {
      for (const later of watched.slice(index)) later.cameBefore ||= later.hasCome()
      return moment.cameBefore
    }
    while (!look() && isRunning()) await setTimeout(1)
    const wasRunning = isRunning()
    if (wasRunning && child.pid !== undefined) {
      child.kill("SIGSTOP")
      await standsStill(child.pid)
    }
    const copy = temporaryFolder()
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
    const [rows = []] = await query(home, seen)
    left.push({ home: copy, wasRunning, seen: rows })
    child.kill("SIGCONT")
  }
  child.kill("SIGKILL")
  await end
  return left
}
