/** Checks by severity: an error keeps a run from being published, a warning is only reported. */
import type { Check } from "@larder/warehouse"

const of =
  (severity: Check["severity"]) =>
  (name: string, description: string, sql: string): Check => ({ name, severity, description, sql })

export const error = of("error")
export const warning = of("warning")

/**
 * Fails if there is less than in the live generation, by more than `percent`. `before` and `now` are SQL that counts;
 * the bad row holds both. A first load has nothing to compare with.
 */
export const shrinkage = (of: {
  readonly name: string
  /** What is counted, in the plural. */
  readonly what: string
  readonly before: string
  readonly now: string
  readonly percent: number
}): Check => ({
  name: of.name,
  severity: "error",
  description: `at most ${of.percent} % fewer ${of.what} than are live; with --accept-shrinkage fewer are published`,
  sql: `
    select '${of.what}' as what, before, now, round(100 * (before - now) / before, 1) as percent_fewer
    from (select (${of.before})::integer as before, (${of.now})::integer as now)
    where 100 * (before - now) > ${of.percent} * before`,
  comparesWithLive: true
})
