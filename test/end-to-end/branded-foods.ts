/** Branded foods as runs of the program left them in a home: rows of the warehouse, and the records that are served. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { type Ended, run } from "../support/programs.ts"
import { openLiveFoods } from "../support/warehouse/live-foods.ts"
import { query } from "./ingesting.ts"

/** Runs the pipeline over a release on this machine. */
export const ingest = (home: string, file: string, ...args: ReadonlyArray<string>): Promise<Ended> =>
  run("larder-ingest", ["branded-foods", "--file", file, "--json", ...args], { LARDER_HOME: home })

type Record = Readonly<globalThis.Record<string, unknown>>

/** Records of a generation, or else of what is live, by fdc_id; undefined for a label version that it does not hold. */
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

/** What of a label does not tell of the run that loaded it. */
const told = "fetched_at, run_id, raw_sha256, release_on"

/** Every label version, as JSON, without what tells of the run. */
export const labelsOf = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(
    home,
    `select to_json(food)::varchar as label from (select * exclude (${told}) from branded_food.food order by fdc_id) food`
  )
  return rows.map(({ label }) => String(label))
}

/** Everything that follows from the labels, as JSON. */
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

/** Rows that were rejected, by file and reason, with the numbers taken out of the reason. */
export const rejectsOf = async (home: string): Promise<ReadonlyArray<Record>> => {
  const [rows = []] = await query(
    home,
    `select feed, regexp_replace(reason, '[0-9]+', 'N', 'g') as why, count(*)::integer as rows
     from ingest.reject where pipeline = 'branded-foods' group by all order by all`
  )
  return rows
}
