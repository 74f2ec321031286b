/** Warnings for operators about the warehouse, as sentences; none if there is no problem. */
import { hasFailed, isFromSamples, isLate } from "@larder/warehouse"
import { dayTag, type Html, html, monthTag, pluralize } from "../web/html.ts"
import type { DataSetState } from "./data-sets.ts"
import { outcomeBadge, runPath } from "./pieces.ts"
import type { CheckRow } from "./read.ts"

const listLate = ({ last_read, late_after_days, newest, title }: DataSetState, now: number): ReadonlyArray<Html> => {
  const interval = late_after_days / 2 === 1 ? "day" : `${late_after_days / 2} days`
  const facts = newest.flatMap(({ date, isMonth, late_after, what }) => {
    if (date === null || !isLate(date, late_after, now)) return []
    const period = isMonth ? monthTag(date) : dayTag(date)
    return html`The newest ${what} of ${title} is from ${period}. That is late: it should be less than ${late_after} days old.`
  })
  return last_read === undefined || !isLate(last_read.finished_at, late_after_days, now)
    ? facts
    : [
        ...facts,
        html`The last read of ${title} ended on ${dayTag(last_read.finished_at)}. That is late: larder-ingest should read it every ${interval}.`
      ]
}

/** `unserved` are the pipelines with newer data that cannot be served. */
export const listAlerts = (
  dataSets: ReadonlyArray<DataSetState>,
  unserved: ReadonlySet<string>,
  failedChecks: ReadonlyArray<CheckRow>,
  now: number
): ReadonlyArray<Html> => {
  const alerts = dataSets.flatMap((state) => {
    const { isLoaded, last_run, pipeline, title } = state
    return [
      unserved.has(pipeline) &&
        html`The newest data of ${title} cannot be served${isLoaded && "; older data is served instead"}. See the server's log for the reason.`,
      last_run !== undefined &&
        last_run.outcome !== "published" &&
        last_run.outcome !== "unchanged" &&
        html`The last run of ${title} ${hasFailed(last_run) ? "failed" : "did not read everything"}: ${outcomeBadge(last_run)} <a href="${runPath(last_run.run_id)}">See the run</a>`,
      ...(isFromSamples(state) ? [] : listLate(state, now))
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
