/** Runs of the pipelines: the list of all runs, and one run with its checks and failures. */
import type { RunRecord } from "@larder/schemas"
import { Effect, Option } from "effect"
import { button, searchForm, select } from "../web/form.ts"
import {
  day,
  empty,
  facts,
  html,
  linkButton,
  moment,
  momentText,
  notice,
  type Part,
  paging,
  section
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { checkTable } from "./checks.ts"
import { titleOfPipeline } from "./data-sets.ts"
import {
  all,
  asked,
  askedOneOf,
  askedPipeline,
  dataNavigation,
  outcomeBadge,
  outcomeNames,
  outcomeWords,
  pathWith,
  pipelineSelect,
  rejectedOf,
  rowsOf,
  runTable
} from "./pieces.ts"
import { DataRead } from "./read.ts"

const runsOnPage = 50

const noRuns = (isFiltered: boolean) =>
  isFiltered
    ? empty("No such run", "No run matches.", linkButton("/data/runs", "Show all"))
    : empty("No runs yet", "Runs of larder-ingest are listed here, also those that published nothing.")

export const dataRunsPage: Page<DataRead> = {
  path: "/data/runs",
  operatorsOnly: true,
  get: ({ url }) =>
    Effect.gen(function* () {
      const pipeline = yield* askedPipeline(url)
      const outcome = yield* askedOneOf(url, "outcome", outcomeNames)
      const before = asked(url, "before")
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
    options: [all("outcomes"), ...outcomeNames.map((name) => ({ value: name, label: outcomeWords(name) }))],
    value: outcome ?? ""
  })}${button("Show", "plain")}`
)}
${
  rows.length === 0
    ? noRuns(pipeline !== undefined || outcome !== undefined || before !== undefined)
    : html`<div class="card">${runTable("Runs, newest first", rows)}</div>`
}
${paging({ newer: before === undefined ? undefined : to(undefined), older: hasMore ? to(rows.at(-1)?.run_id) : undefined })}`
      )
    })
}

const origins = { live: "the network", replay: "a recording", sample: "the bundled samples" } as const

const daysAskedFor = ({ window_from, window_to }: RunRecord): ReadonlyArray<readonly [string, Part]> =>
  window_from === null && window_to === null
    ? []
    : [
        [
          "Days asked for",
          html`${window_from === null ? "…" : day(window_from)} to ${window_to === null ? "…" : day(window_to)}`
        ]
      ]

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
        `Run of ${titleOfPipeline(run.pipeline)}, ${momentText(run.started_at)}`,
        html`${dataNavigation("/data/runs")}
${run.message !== null && notice(isBad ? "bad" : "warning", html`<pre class="message">${run.message}</pre>`)}
<div class="card">${facts([
          ["Outcome", outcomeBadge(run)],
          ["Started", moment(run.started_at)],
          [run.generation === null ? "Ended" : "Reading ended", moment(run.finished_at)],
          ["Read from", origins[run.origin]],
          ...daysAskedFor(run),
          ["Generation", run.generation ?? "none was published"],
          ["Rows read", rowsOf(run.rows_read)],
          ["New", rowsOf(run.rows_loaded)],
          ["Nothing new", rowsOf(run.rows_unchanged)],
          ["Rejected", rejectedOf(run)],
          ["Run id", html`<code>${run.run_id}</code>`]
        ])}</div>
${section("Checks", checks.length === 0 ? empty("No checks", "This run did not come to its checks, or had nothing new to check.") : html`<div class="checks">${checkTable("Checks of this run", checks)}</div>`)}`
      )
    })
}
