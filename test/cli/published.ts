/** A home with the bundled samples, its commands, and the files of what was published in it. */
import { readFileSync, rmSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, layoutOf } from "@larder/warehouse"
import { Effect } from "effect"
import { assert, inject, onTestFinished } from "vitest"
import { run } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

/** The bundled samples: commodities, foods and stores are the generations 1 to 3. */
export const useSampleHome = () => {
  const home = copyHome(inject("sampleHome"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const call = (...args: ReadonlyArray<string>) => run("larder-ingest", args, { LARDER_HOME: home })
  const json = async (...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await call(...args, "--json")
    assert.strictEqual(code, 0, stderr)
    return JSON.parse(stdout)
  }
  return { home, call, json }
}

/** Returns the files of a data set's parts in a generation, by their names. */
export const findParts = (home: string, number: number, pipeline: string) => {
  const layout = Effect.runSync(Effect.provide(layoutOf(home), NodeServices.layer))
  const name = `generations/${String(number).padStart(9, "0")}.json`
  const manifest = JSON.parse(readFileSync(path.join(layout.dir, name), "utf8"))
  const parts: ReadonlyArray<{ readonly name: string; readonly sha256: string }> = manifest.data_sets[pipeline].parts
  return new Map(parts.map((part) => [part.name, layout.objectFile(part.sha256)]))
}
/** Returns the database of a data set in a generation. */
export const findPart = (home: string, number: number, pipeline: string) =>
  findParts(home, number, pipeline).get(`${pipeline}.duckdb`) ?? ""

/** Returns the rows of a query of one database file. */
export const queryRows = (file: string, sql: string) =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(DuckDb.readOnly(file), (db) => db.rows(sql))))
