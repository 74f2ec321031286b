/**
 * Computes how often a store is read. A store that has been unchanged, or failing, for some time is read again after
 * half to all of that time. So a store that changes is read in every run, one that hardly changes less and less often,
 * and one that fails in the next run and then less and less often. The fraction is derived from the domain and the last
 * read, so that stores that were first read together do not stay due together.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import type { DuckDb } from "@larder/warehouse"
import { Config, Duration, Effect, Schema } from "effect"

/** Times are milliseconds since 1970. */
const LastRead = Schema.Struct({
  domain: Schema.String,
  kind: Schema.String,
  /** When the run of the last read began, and when that read ended. */
  asked_at: Schema.Finite,
  read_at: Schema.Finite,
  /** When something last changed, or when the current series of equal statuses began, whichever is later. */
  steady_since: Schema.Finite,
  run_id: Schema.String,
  fetch_status: Schema.String,
  /** The last run whose read did not fail. */
  fetched_by: Schema.NullOr(Schema.String),
  /** Whether this version of the mapping produced its rows. */
  is_mapped: Schema.Boolean
})
export type LastRead = typeof LastRead.Type

const lastReads = readFileSync(new URL("./last-reads.sql", import.meta.url), "utf8")

/** The last read of each store that this generation knows, by domain. `mapping` is the hash of the current mapping. */
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
  minInterval: Config.Duration("LARDER_STORE_MIN_INTERVAL").pipe(Config.withDefault(Duration.zero)),
  maxInterval: Config.Duration("LARDER_STORE_MAX_INTERVAL").pipe(Config.withDefault(Duration.days(7)))
}).pipe(
  Config.map(
    ({ maxInterval, minInterval }): IntervalLimits => ({
      minInterval: Duration.toMillis(minInterval),
      maxInterval: Duration.toMillis(maxInterval)
    })
  )
)

export const badIntervals =
  "LARDER_STORE_MIN_INTERVAL or LARDER_STORE_MAX_INTERVAL is not a duration. Write it as `20 hours`, `7 days` or `0 days`."

/** A number from 0.5 to 1, always the same for the same text. */
const hashToShare = (text: string) => 0.5 + createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 33

/** From this time on, a run reads the store again. */
export const computeDueTime = (
  { asked_at, domain, read_at, steady_since }: Pick<LastRead, "asked_at" | "domain" | "read_at" | "steady_since">,
  { maxInterval, minInterval }: IntervalLimits
) => {
  const wait = Math.min(read_at - steady_since, maxInterval) * hashToShare(`${domain} ${read_at}`)
  return asked_at + Math.min(Math.max(wait, minInterval), maxInterval)
}
