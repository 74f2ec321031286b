/** Runs of the pipelines: the list of them all, and one with its checks and what went wrong. */
import { Effect, Option } from "effect"
import { DataRead } from "../data-read.ts"
import { button, searchForm, select } from "../form.ts"
import { count, day, empty, facts, html, moment, notice, paging, section } from "../html.ts"
import { type Page, PageNotFound, show } from "../page.ts"
import { checkTable } from "./data-checks.ts"
import {
  asked,
  dataNavigation,
  everyOne,
  outcomeBadge,
  outcomeNames,
  outcomeWords,
  pathWith,
  pipelineSelect,
  runTable
} from "./data-pieces.ts"

const runsOnPage = 50

export const dataRunsPage: Page<DataRead> = {
  path: "/data/runs",
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const [pipeline, outcome, before] = [asked(url, "pipeline"), asked(url, "outcome"), asked(url, "before")]
      const wanted = { pipeline, outcome, before, limit: runsOnPage }
      const { hasMore, rows } = yield* DataRead.use((data) => data.runs(wanted))
      const to = (run_id: string | undefined) => pathWith("/data/runs", { pipeline, outcome, before: run_id })
      return show(
        "Runs",
        html`${dataNavigation("/data/runs")}
${searchForm(
  html`${pipelineSelect(pipeline)}${select({
    name: "outcome",
    label: "Outcome",
    options: [everyOne, ...outcomeNames.map((name) => ({ value: name, label: outcomeWords(name) }))],
    value: outcome ?? ""
  })}${button("Show", "plain")}`
)}
${
  rows.length === 0
    ? empty("No such run", "No run matches. Runs of larder-ingest are listed here, also those that published nothing.")
    : html`<div class="card">${runTable("Runs, newest first", rows)}</div>`
}
${paging({ newer: before === undefined ? undefined : to(undefined), older: hasMore ? to(rows.at(-1)?.run_id) : undefined })}`
      )
    })
}

const origins = { live: "the network", replay: "a recording", sample: "the bundled samples" } as const

export const dataRunPage: Page<DataRead> = {
  path: "/data/runs/:id",
  operatorsOnly: true,
  get: ({ params }) =>
    Effect.gen(function* () {
      const found = yield* DataRead.use((data) => data.run(params.id ?? ""))
      if (Option.isNone(found)) return yield* new PageNotFound()
      const { checks, run } = found.value
      const isBad = run.outcome === "failed" || run.outcome === "checks_failed"
      return show(
        `Run of ${run.pipeline}`,
        html`${dataNavigation("/data/runs")}
${run.message !== null && notice(isBad ? "bad" : "warning", html`<pre class="message">${run.message}</pre>`)}
<div class="card">${facts([
          ["Outcome", outcomeBadge(run)],
          ["Started", moment(run.started_at)],
          [run.generation === null ? "Ended" : "Reading ended", moment(run.finished_at)],
          ["Read from", origins[run.origin]],
          [
            "Days asked for",
            run.window_from === null && run.window_to === null
              ? "no limit"
              : html`${run.window_from === null ? "…" : day(run.window_from)} to ${run.window_to === null ? "…" : day(run.window_to)}`
          ],
          ["Generation", run.generation ?? "none was published"],
          ["Rows read", count(run.rows_read)],
          ["New", count(run.rows_loaded)],
          ["Unchanged", count(run.rows_unchanged)],
          [
            "Rejected",
            run.rows_rejected === 0
              ? "0"
              : html`${count(run.rows_rejected)} <a href="${pathWith("/data/rejects", { run: run.run_id })}">See them</a>`
          ],
          ["Run id", html`<code>${run.run_id}</code>`]
        ])}</div>
${section("Checks", checks.length === 0 ? empty("No checks", "This run did not come to its checks, or had nothing new to check.") : checkTable("Checks of this run", checks, false))}`
      )
    })
}
