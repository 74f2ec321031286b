/** Reads `ingest.freshness`, which alone decides what is late: for commands, notices, the console, /readyz and /metrics. */
import { Freshness } from "@larder/schemas"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { timestampColumn } from "../opened/runs.ts"

export type FreshnessRow = typeof Freshness.Type

/** What notices need. */
export type Judged = Pick<FreshnessRow, "pipeline" | "kind" | "subject" | "state" | "left_out" | "late_at" | "why">

const select = `
  select pipeline, kind, subject, feed, newest_on::varchar as newest_on, ${timestampColumn("last_complete_read_at")},
    ${timestampColumn("expected_at")}, ${timestampColumn("late_at")}, left_out, state, why
  from ingest.freshness
  order by pipeline, kind, subject`

/** Undefined if nothing was published yet. The catalogue is as new as the last program that needed it. */
export const readFreshness = Effect.fnUntraced(function* ({ catalogue }: Layout) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(catalogue))) return undefined
  const db = yield* DuckDb.readOnlyWithFiles(catalogue)
  return yield* db.all(Freshness, select)
}, Effect.scoped)

export type StateCounts = Readonly<Partial<Record<FreshnessRow["state"], number>>>

/** How many subjects have each state. States without subjects are absent. */
export const countStates = (rows: ReadonlyArray<Pick<FreshnessRow, "state">>): StateCounts => {
  const counts: Partial<Record<FreshnessRow["state"], number>> = {}
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** Of what is left out of the live data, all but that of feeds and stores that no run reads any more. */
export const dropEnded = <A extends { readonly pipeline: string; readonly feed: string }>(
  leftOut: ReadonlyArray<A>,
  rows: ReadonlyArray<Pick<FreshnessRow, "pipeline" | "feed" | "left_out">>
): ReadonlyArray<A> => {
  const keyOf = ({ feed, pipeline }: Pick<FreshnessRow, "pipeline" | "feed">) => `${pipeline} ${feed}`
  const missing = new Set(rows.filter(({ left_out }) => left_out !== null).map(keyOf))
  const judged = new Set(rows.map(keyOf))
  return leftOut.filter((left) => missing.has(keyOf(left)) || !judged.has(keyOf(left)))
}
