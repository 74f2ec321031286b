/** Makes checks by severity: an error prevents the publication of a run, a warning is only reported. */
import type { Check } from "@larder/warehouse"

const makeCheck =
  (severity: Check["severity"]) =>
  (name: string, description: string, sql: string): Check => ({ name, severity, description, sql })

export const error = makeCheck("error")
export const warning = makeCheck("warning")

interface ShrinkageLimit {
  readonly name: string
  /** The counted things, in the plural. */
  readonly what: string
  readonly before: string
  readonly now: string
  readonly percent: number
}

/**
 * Makes a check that fails if the count is more than `percent` below that of the live generation. `before` and `now`
 * are SQL that counts; the bad row contains both. A first load has nothing to compare with.
 */
export const shrinkage = ({ before, name, now, percent, what }: ShrinkageLimit): Check => ({
  name,
  severity: "error",
  description: `at most ${percent} % fewer ${what} than are live; --accept-shrinkage publishes them anyway`,
  sql: `
    select '${what}' as what, before, now, round(100 * (before - now) / before, 1) as percent_fewer
    from (select (${before})::integer as before, (${now})::integer as now)
    where 100 * (before - now) > ${percent} * before`,
  isLiveComparison: true
})
