/** Ingest runs over folders of recordings, by the program itself, and what they left in the warehouse. */
import { cpSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { onTestFinished } from "vitest"
import { type Bodies, writeRecordings } from "../support/pipelines/commodity-payloads.ts"
import { run } from "../support/programs.ts"

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

export const link = (home: string) => path.join(home, "warehouse/larder.duckdb")
export const generationOf = (home: string) => readlinkSync(link(home))

/** Rows of the live generation, one query after the other. */
export const query = (home: string, ...queries: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.flatMap(DuckDb.readOnly(realpathSync(link(home))), (db) => Effect.forEach(queries, (sql) => db.rows(sql)))
    )
  )

/** Current values of a metric: `2026-08-29 1.6140`, oldest first. */
export const valuesOf = async (home: string, metric: string, asOf?: string): Promise<ReadonlyArray<string>> => {
  const from = asOf === undefined ? "commodity.price" : `commodity.price_as_of('${asOf}')`
  const [rows = []] = await query(
    home,
    `select observed_on::varchar || ' ' || value_text as point from ${from} where metric_name = '${metric}' order by observed_on`
  )
  return rows.map(({ point }) => String(point))
}
