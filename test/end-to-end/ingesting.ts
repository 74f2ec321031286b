/** Ingest runs over folders of recordings, by the program itself, and what they left in the warehouse. */
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

/** A folder that is removed when the test is over. */
export const folderOfTest = () => {
  const folder = temporaryFolder()
  onTestFinished(() => removeFolder(folder))
  return folder
}

/** A copy of a home; its caller removes it. */
export const copyIn = (home: string, copy = temporaryFolder()) => {
  cpSync(home, copy, { recursive: true, verbatimSymlinks: true })
  return copy
}

/** A copy of a home that is removed when the test is over. */
export const copyOf = (home: string) => copyIn(home, folderOfTest())

/** Writes the recordings into a folder of their own and runs the commodities pipeline over it. */
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

/** The record of a run, as it is printed with `--json`. */
export const recordOf = ({ stdout }: { readonly stdout: string }): Readonly<Record<string, unknown>> =>
  JSON.parse(stdout)

const generations = (home: string) => path.join(home, "warehouse/generations")

/** The newest generation, of whatever run or rollback. */
export const newestManifest = (home: string): Manifest => {
  const newest = readdirSync(generations(home)).sort().at(-1) ?? ""
  return JSON.parse(readFileSync(path.join(generations(home), newest), "utf8"))
}

/** The generation that made live what is live of a data set. */
export const generationOf = (home: string, pipeline: string) => {
  const changedIn = newestManifest(home).data_sets[pipeline]?.changed_in
  return changedIn === undefined ? undefined : generationId(changedIn)
}

/** What people open to see all data sets. */
export const catalogue = (home: string) => path.join(home, "warehouse/larder.duckdb")

/** Rows of what is live, one query after the other. */
export const query = (home: string, ...queries: ReadonlyArray<string>) =>
  Effect.runPromise(queryDatabase(catalogue(home), ...queries))

/** A home that was rebuilt from the raw archive of another one, and has nothing else of it; it is removed when the test is over. */
export const rebuiltFrom = async (home: string) => {
  const made = folderOfTest()
  cpSync(path.join(home, "raw"), path.join(made, "raw"), { recursive: true })
  const { code, stderr } = await run("larder-ingest", ["rebuild"], { LARDER_HOME: made })
  if (code !== 0) throw new Error(`the rebuild ended with ${code}:\n${stderr}`)
  return made
}

/** Looks at a home as an operator does, which brings what people open up to what is live. */
export const look = async (home: string) => {
  const { code, stderr } = await run("larder-ingest", ["status"], { LARDER_HOME: home })
  if (code === null || code > 1) throw new Error(`the status ended with ${code}:\n${stderr}`)
}

/** Current values of a metric: `2026-08-29 1.6140`, oldest first. */
export const valuesOf = async (home: string, metric: string, asOf?: string): Promise<ReadonlyArray<string>> => {
  const from = asOf === undefined ? "commodity.price" : `commodity.price_as_of('${asOf}')`
  const [rows = []] = await query(
    home,
    `select observed_on::varchar || ' ' || value_text as point from ${from} where metric_name = '${metric}' order by observed_on`
  )
  return rows.map(({ point }) => String(point))
}
