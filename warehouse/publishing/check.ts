/** Runs checks on the generation that is about to go live. A check is a query for bad rows, and passes without any. */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import { Effect, Runtime, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"

export interface Check {
  readonly name: string
  /** A failed `error` prevents publication; a failed `warning` is recorded and logged. */
  readonly severity: "error" | "warning"
  readonly description: string
  readonly sql: string
  /**
   * The check compares with the live generation, which is attached as `live`; `getvariable('run_id')` is the run. It is
   * skipped if the data set is not live yet, and is a warning if the operator accepts that the data set shrinks.
   */
  readonly isLiveComparison?: true
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
        `  ${check.name}: ${check.bad_rows} bad rows, such as ${check.examples}\n    (passes if: ${check.description})`
    )
    return `Checks failed; nothing was published, and the previous generation stays live.\n${lines.join("\n")}`
  }
}

/** For every pipeline: each payload row is accounted for exactly once. */
const accountingCheck = ({ rows_loaded, rows_read, rows_rejected, rows_unchanged, run_id }: RunRecord): Check => ({
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

const BadRows = Schema.Struct({ bad_rows: Schema.Int, examples: Schema.String })

/** Counts in DuckDB: a failing check may return every row of the warehouse. */
const runCheck = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  { isLiveComparison: _isLiveComparison, sql, ...check }: Check
) {
  const [bad] = yield* db.all(
    BadRows,
    `-- check ${check.name}
     with bad as materialized (${sql})
     select
       (select count(*)::integer from bad) as bad_rows,
       coalesce((select to_json(list(bad_row))::varchar from (from bad limit 5) as bad_row), '[]') as examples`
  )
  return { ...check, bad_rows: bad?.bad_rows ?? 0, examples: bad?.examples ?? "[]" } satisfies CheckOutcome
})

/** The checks of a first load. */
export const checksWithoutLive = (checks: ReadonlyArray<Check>) =>
  checks.filter(({ isLiveComparison }) => !isLiveComparison)

/** The checks of a later run. The live data is attached as `live`. */
export const checksWithLive = (checks: ReadonlyArray<Check>, acceptShrinkage: boolean) => {
  const comparisons = checks.filter(({ isLiveComparison }) => isLiveComparison)
  const accepted = acceptShrinkage ? { severity: "warning" as const } : {}
  return [...checksWithoutLive(checks), ...comparisons.map((check) => ({ ...check, ...accepted }))]
}

/** Runs all checks, so that one run shows all failures. */
export const runChecks = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  checks: ReadonlyArray<Check>,
  run: RunRecord
) {
  yield* db.run(`set variable run_id = ${literal(run.run_id)}`)
  const outcomes = yield* Effect.forEach([accountingCheck(run), ...checks], (check) => runCheck(db, check))
  for (const { bad_rows, examples, name, severity } of outcomes) {
    if (bad_rows === 0 || severity !== "warning") continue
    yield* Effect.annotateLogs(Effect.logWarning(`check ${name}`), { bad_rows, examples })
  }
  return outcomes
})
