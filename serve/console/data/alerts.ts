/** Warnings for operators about what is served and read, as sentences; none if there is no problem. `freshness.ts` has what is late. */
import { hasFailed } from "@larder/warehouse"
import { type Html, html, pluralize } from "../web/html.ts"
import type { DataSetState } from "./data-sets.ts"
import { outcomeBadge, runPath } from "./pieces.ts"
import type { CheckRow } from "./read.ts"

/** `unserved` are the pipelines with newer data that cannot be served. */
export const listAlerts = (
  dataSets: ReadonlyArray<DataSetState>,
  unserved: ReadonlySet<string>,
  failedChecks: ReadonlyArray<CheckRow>
): ReadonlyArray<Html> => {
  const alerts = dataSets.flatMap(({ isLoaded, last_run, pipeline, title }) => {
    return [
      unserved.has(pipeline) &&
        html`The newest data of ${title} cannot be served${isLoaded && "; older data is served instead"}. See the server's log for the reason.`,
      last_run !== undefined &&
        last_run.outcome !== "published" &&
        last_run.outcome !== "unchanged" &&
        html`The last run of ${title} ${hasFailed(last_run) ? "failed" : "did not read everything"}: ${outcomeBadge(last_run)} <a href="${runPath(last_run.run_id)}">See the run</a>`
    ]
  })
  const failed =
    failedChecks.length > 0 &&
    html`${pluralize(failedChecks.length, "check")} of the live generation found bad rows. <a href="/data/checks">See the checks</a>`
  return [...alerts, failed].filter((alert) => alert !== false)
}

/** Not a warning: an unmapped field stays listed, and Larder needs few of them. */
export const unknownFieldsText = (fields: ReadonlyArray<unknown>): Html =>
  html`Upstream has ${fields.length === 1 ? "an unmapped field" : "unmapped fields"}. <a href="/data/feeds">See the feeds</a>`
