/**
 * Checks: queries that return the bad rows. No row means passed. They run on the generation that is about to go live.
 */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import { Effect, Runtime, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"

export interface Check {
  readonly name: string
  /** A failed `error` prevents publication; a failed `warning` is recorded and logged. */
  readonly severity: "error" | "warning"
  readonly description: string
  /** Returns the bad rows. */
  readonly sql: string
  /**
   * Compares with the live generation, which is attached as `live`; `getvariable('run_id')` is the run. The check is
   * skipped if nothing of the data set is live, and is a warning if the operator accepts that the data set shrinks.
   */
  readonly comparesWithLive?: true
}

/** At least one check of severity `error` found bad rows. Nothing was published. */
export class ChecksFailed extends Schema.TaggedError<ChecksFailed>()("ChecksFailed", {
  failed: Schema.Array(
    Schema.Struct({ name: Schema.String, bad_rows: Schema.Int, examples: Schema.String, description: Schema.String })
  )
}) {
  override readonly [Runtime.errorExitCode] = 3
  override get message() {
    const lines = this.failed.map(
      (check) =>
        `  ${check.name}: ${check.bad_rows} bad rows, such as ${check.examples}\n    (holds when: ${check.description})`
    )
    return `Checks failed; nothing was published, and the previous generation stays live.\n${lines.join("\n")}`
  }
}

/** Holds for every pipeline: each payload row is accounted for exactly once. */
const accountingOf = ({ rows_loaded, rows_read, rows_rejected, rows_unchanged, run_id }: RunRecord): Check => ({
  name: "rows_accounted_for",
  severity: "error",
  description: "rows read = new + unchanged + rejected in every run",
  sql: `
    select * from (
      select ${literal(run_id)} as run_id, ${rows_read} as rows_read, ${rows_loaded} as rows_loaded,
        ${rows_unchanged} as rows_unchanged, ${rows_rejected} as rows_rejected
    )
    where rows_read <> rows_loaded + rows_unchanged + rows_rejected`
})

const Bad = Schema.Struct({ bad_rows: Schema.Int, examples: Schema.String })

/** Counts in DuckDB: a failing check may return every row of the warehouse. */
const runCheck = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { comparesWithLive: _comparesWithLive, sql, ...told }: Check
) {
  const [bad] = yield* db.all(
    Bad,
    `-- check ${told.name}
     with bad as materialized (${sql})
     select
       (select count(*)::integer from bad) as bad_rows,
       coalesce((select to_json(list(few))::varchar from (from bad limit 5) as few), '[]') as examples`
  )
  return { ...told, bad_rows: bad?.bad_rows ?? 0, examples: bad?.examples ?? "[]" } satisfies CheckOutcome
})

/** What checks can compare with. */
export interface Before {
  /** Whether the data set is live: then it is attached as `live`. */
  readonly hasLive: boolean
  readonly acceptShrinkage: boolean
}

const runAll = (db: DuckDb["Service"], checks: ReadonlyArray<Check>) =>
  Effect.forEach(checks, (check) => runCheck(db, check))

/** Runs all checks, so that one run shows everything that is wrong. */
export const runChecks = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  checks: ReadonlyArray<Check>,
  run: RunRecord,
  { acceptShrinkage, hasLive }: Before
) {
  const comparing = checks.filter(({ comparesWithLive }) => comparesWithLive === true)
  const others = checks.filter((check) => !comparing.includes(check))
  const accepted = { severity: "warning" } as const
  const compared = acceptShrinkage ? comparing.map((check) => ({ ...check, ...accepted })) : comparing
  yield* db.run(`set variable run_id = ${literal(run.run_id)}`)
  const outcomes = yield* runAll(db, [accountingOf(run), ...others, ...(hasLive ? compared : [])])
  const failed = outcomes.filter((outcome) => outcome.bad_rows > 0)
  yield* Effect.forEach(
    failed.filter((outcome) => outcome.severity === "warning"),
    ({ bad_rows, examples, name }) => Effect.annotateLogs(Effect.logWarning(`check ${name}`), { bad_rows, examples }),
    { discard: true }
  )
  return outcomes
})
