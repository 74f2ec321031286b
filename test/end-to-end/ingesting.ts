/** Runs the program over folders of recordings, and reads their results from the warehouse. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { generationId, type Manifest } from "@larder/warehouse"
import { Effect } from "effect"
import { onTestFinished } from "vitest"
import { type Bodies, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"
import { queryDatabase } from "../support/warehouse/analyst.ts"

export const temporaryFolder = () => mkdtempSync(path.join(tmpdir(), "larder-end-to-end-"))
export const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true })

/** Makes a folder that is removed after the test. */
export const makeTestFolder = () => {
  const folder = temporaryFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** Copies a home; the caller removes the copy. */
export const copyHome = (home: string, copy = temporaryFolder()) => {
  cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** Copies a home; the copy is removed after the test. */
export const copyForTest = (home: string) => copyHome(home, makeTestFolder())

/** Writes the recordings into a folder and runs the commodities pipeline on it. */
export const replay = async (home: string, bodies: Bodies, ...args: ReadonlyArray<string>) => {
  const folder = temporaryFolder()
  try {
    writeRecordings(folder, bodies)
    return await replayFolder(home, folder, ...args)
  } finally {
    removeFolder(folder)
  }
}

export const replayFolder = (home: string, folder: string, ...args: ReadonlyArray<string>) =>
  run("larder-ingest", ["commodities", "--replay", folder, "--json", ...args], { LARDER_HOME: home })

/** Parses the record of a run that `--json` prints. */
export const parseRunRecord = ({ stdout }: { readonly stdout: string }): Readonly<Record<string, unknown>> =>
  JSON.parse(stdout)

const generations = (home: string) => path.join(home, "warehouse/generations")

/** Reads the newest generation of any run or rollback. */
export const newestManifest = (home: string): Manifest => {
  const newest = readdirSync(generations(home)).sort().at(-1) ?? ""
  return JSON.parse(readFileSync(path.join(generations(home), newest), "utf8"))
}

/** Returns the generation in which the live data of a data set was published. */
export const generationOf = (home: string, pipeline: string) => {
  const changedIn = newestManifest(home).data_sets[pipeline]?.changed_in
  return changedIn === undefined ? undefined : generationId(changedIn)
}

/** Returns the file that people open for all data sets. */
export const catalogueOf = (home: string) => path.join(home, "warehouse/larder.duckdb")

/** Queries the live data, one query after the other. */
export const query = (home: string, ...queries: ReadonlyArray<string>) =>
  Effect.runPromise(queryDatabase(catalogueOf(home), ...queries))

/** Rebuilds a home only from the raw archive of another one; it is removed after the test. */
export const rebuildFrom = async (home: string) => {
  const rebuilt = makeTestFolder()
  cpSync(path.join(home, "raw"), path.join(rebuilt, "raw"), { recursive: true })
  const { code, stderr } = await run("larder-ingest", ["rebuild"], { LARDER_HOME: rebuilt })
  if (code !== 0) throw new Error(`the rebuild exited with ${code}:\n${stderr}`)
  return rebuilt
}

/** Runs `status` on a home, which also updates the files that people open. */
export const runStatus = async (home: string) => {
  const { code, stderr } = await run("larder-ingest", ["status"], { LARDER_HOME: home })
  if (![0, 1, 4].includes(code ?? -1)) throw new Error(`the status exited with ${code}:\n${stderr}`)
}

/** Returns the current values of a metric, oldest first, such as `2026-08-29 1.6140`. */
export const valuesOf = async (home: string, metric: string, asOf?: string): Promise<ReadonlyArray<string>> => {
  const from = asOf === undefined ? "commodity.observation" : `commodity.observation_as_of('${asOf}')`
  const [rows = []] = await query(
    home,
    `select observed_on::varchar || ' ' || value_text as point from ${from} where metric_name = '${metric}' order by observed_on`
  )
  return rows.map(({ point }) => String(point))
}
