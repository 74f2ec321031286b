/** Checks by what their bad rows mean: an error keeps a run from being published, a warning is told beside it. */
import type { Check } from "@larder/warehouse/publishing/check.ts"

const of =
  (severity: Check["severity"]) =>
  (name: string, description: string, sql: string): Check => ({ name, severity, description, sql })

export const error = of("error")
export const warning = of("warning")

/**
 * Fails where there is less than in the live generation, by more than so many percent. `before` and `now` count, as SQL; the bad
 * row holds both. First loads have nothing to compare with.
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
