/** Reads branded foods of a home: rows of the warehouse, and the records that the server returns. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { type Ended, run } from "../support/programs.ts"
import { openLiveFoods } from "../support/warehouse/live-foods.ts"
import { query } from "./ingesting.ts"

/** Runs the pipeline on a local release. */
export const ingest = (home: string, file: string, ...args: ReadonlyArray<string>): Promise<Ended> =>
  run("larder-ingest", ["branded-foods", "--file", file, "--json", ...args], { LARDER_HOME: home })

type Record = Readonly<globalThis.Record<string, unknown>>

/** Reads records by fdc_id, of a generation or of the live data; undefined for an unknown label version. */
export const recordsOf = (
  home: string,
  fdcIds: ReadonlyArray<number>,
  generation?: number
): Promise<ReadonlyArray<Record | undefined>> =>
  openLiveFoods(home, generation).pipe(
    Effect.map((foods) =>
      fdcIds.map((fdcId) => {
        const json = foods.record(fdcId)
        return json === undefined ? undefined : JSON.parse(json)
      })
    ),
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.runPromise
  )

/** Columns that depend on the run that loaded a label. */
const runColumns = "fetched_at, run_id, raw_sha256, release_on"

/** Reads every label version as JSON, without the columns that depend on the run. */
export const labelsOf = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(
    home,
    `select to_json(food)::varchar as label from (select * exclude (${runColumns}) from branded_food.food order by fdc_id) food`
  )
  return rows.map(({ label }) => String(label))
}

/** Reads everything that is derived from the labels as JSON. */
export const derivedOf = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(
    home,
    `select 'version' as what, to_json(v)::varchar as row from branded_food.version v
     union all select 'category', to_json(c)::varchar from branded_food.category c
     union all select 'nutrition', to_json(n)::varchar from branded_food.nutrition n
     order by all`
  )
  return rows.map(({ row, what }) => `${what} ${row}`)
}

/** Counts rejected rows by file and reason, with the numbers removed from the reason. */
export const rejectsOf = async (home: string): Promise<ReadonlyArray<Record>> => {
  const [rows = []] = await query(
    home,
    `select feed, regexp_replace(reason, '[0-9]+', 'N', 'g') as why, count(*)::integer as rows
     from ingest.reject where pipeline = 'branded-foods' group by all order by all`
  )
  return rows
}
