/** Loads small releases, and reads what is live then. */
import { existsSync, readdirSync } from "node:fs"
import path from "node:path"
import { expect } from "vitest"
import { type Environment, run } from "../support/programs.ts"
import { listLeftoverFiles } from "../support/warehouse/leftover-files.ts"
import { generationOf, query } from "./ingesting.ts"

export const load = (home: string, file: string, environment: Environment = {}) =>
  run("larder-ingest", ["branded-foods", "--file", file, "--json"], { LARDER_HOME: home, ...environment })

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** Lists the temporary files of runs, which no run may leave. */
export const listLeftovers = (home: string): ReadonlyArray<string> => [
  ...namesIn(path.join(home, "staging")),
  ...namesIn(path.join(home, "raw/incoming")),
  ...listLeftoverFiles(home)
]

export const foodsIn = async (home: string): Promise<ReadonlyArray<number>> => {
  const [rows = []] = await query(home, "select fdc_id from branded_food.food order by fdc_id")
  return rows.map(({ fdc_id }) => Number(fdc_id))
}

/** Expects the generation of `goodZip()` to be live with its foods, and the failed run to have left no files. */
export const expectOldFoods = async (home: string) => {
  expect(generationOf(home, "branded-foods")).toBe("larder-000001")
  expect(await foodsIn(home)).toEqual([1, 2, 3])
  expect(listLeftovers(home)).toEqual([])
}
