/**
 * Computes when a store is due again. A store that has been unchanged, or failing, for a time T is due after T/2 to T.
 * So a store that changes is read in every run, one that rarely changes less and less often, and a failing one in the
 * next run and then less and less often. A store is also due when one of its sales begins or ends. The jitter is
 * derived from the domain and the last read, so that stores that were first read together do not stay due together.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { settingOf } from "@larder/schemas"
import type { DuckDb } from "@larder/warehouse"
import { Config, Duration, Effect, Schema } from "effect"
import { ReadFailed } from "../../run/pipeline.ts"

/** Times are milliseconds since 1970. */
const LastRead = Schema.Struct({
  domain: Schema.String,
  kind: Schema.String,
  /** When the run of the last read began. */
  run_started_at: Schema.Finite,
  /** When that read ended. */
  read_at: Schema.Finite,
  /** The last change of its data or of the status of its reads. */
  unchanged_since: Schema.Finite,
  /** When a sale that the store stated begins or ends, if that was still to come at its last read. */
  sale_changes_at: Schema.NullOr(Schema.Finite),
  run_id: Schema.String,
  fetch_status: Schema.String,
  /** The last run whose read of this store did not fail. */
  last_successful_run_id: Schema.NullOr(Schema.String),
  /** Whether the current mapping produced its rows. */
  has_current_mapping: Schema.Boolean
})
export type LastRead = typeof LastRead.Type

const lastReads = readFileSync(new URL("./last-reads.sql", import.meta.url), "utf8")

/** The last read of each store in this generation, by domain. `mapping` is the hash of the current mapping. */
export const readLastReads = (db: DuckDb["Service"], mapping: string) =>
  Effect.map(
    db.all(LastRead, lastReads, { mapping }),
    (rows): ReadonlyMap<string, LastRead> => new Map(rows.map((row) => [row.domain, row]))
  )

/** In milliseconds. `maxInterval` takes precedence over `minInterval`. */
export interface IntervalLimits {
  readonly minInterval: number
  readonly maxInterval: number
}

/** By default, a store unchanged for months is read at least once a week; a daily run reads a sixth of such stores. */
export const intervalSettings = Config.all({
  minInterval: settingOf("LARDER_STORE_MIN_INTERVAL", Schema.DurationFromString),
  maxInterval: settingOf("LARDER_STORE_MAX_INTERVAL", Schema.DurationFromString)
}).pipe(
  Config.map(
    ({ maxInterval, minInterval }): IntervalLimits => ({
      minInterval: Duration.toMillis(minInterval),
      maxInterval: Duration.toMillis(maxInterval)
    })
  )
)

export const invalidIntervals =
  "LARDER_STORE_MIN_INTERVAL or LARDER_STORE_MAX_INTERVAL is not a duration. Write it as `20 hours`, `7 days` or `0 days`."

/** Fails if a setting is no duration. */
export const readIntervals = Effect.mapError(intervalSettings, () => new ReadFailed({ faults: [invalidIntervals] }))

/** From 0.5 to 1, always the same for the same text. */
const jitterFactor = (text: string) => 0.5 + createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 33

/** The last day that both JavaScript and DuckDB write with four digits: an interval can be longer. */
const lastTime = Date.UTC(9999, 11, 31)

/** No run reads a store before `due_from`, and every run from `due_by` on: a sale that begins or ends does not wait. */
export const computeDueRange = (list_fetched_at: number, { maxInterval, minInterval }: IntervalLimits) => {
  const after = (interval: number) => new Date(Math.min(list_fetched_at + interval, lastTime)).toISOString()
  return { due_from: after(Math.min(minInterval, maxInterval)), due_by: after(maxInterval) }
}

/** The earliest time when a run reads the store again: a sale that begins or ends does not wait. */
export const computeDueTime = (
  {
    domain,
    read_at,
    run_started_at,
    sale_changes_at,
    unchanged_since
  }: Pick<LastRead, "domain" | "read_at" | "run_started_at" | "sale_changes_at" | "unchanged_since">,
  { maxInterval, minInterval }: IntervalLimits
) => {
  const wait = Math.min(read_at - unchanged_since, maxInterval) * jitterFactor(`${domain} ${read_at}`)
  const due = run_started_at + Math.min(Math.max(wait, minInterval), maxInterval)
  return sale_changes_at === null ? due : Math.min(due, sale_changes_at)
}
