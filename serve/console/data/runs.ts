/** Runs of the pipelines: the list of all runs, and one run with its checks and failures. */
import type { RunRecord } from "@larder/schemas"
import { Effect, Option } from "effect"
import { searchForm, select } from "../web/form.ts"
import {
  dayTag,
  empty,
  type Fact,
  facts,
  html,
  linkButton,
  momentTag,
  momentText,
  notice,
  section
} from "../web/html.ts"
import { type Page, PageNotFound, show } from "../web/page.ts"
import { filteredPaging, queryChoice, queryValue } from "../web/query.ts"
import { checkTable } from "./checks.ts"
import { pipelineTitle } from "./data-sets.ts"
import {
  allOption,
  dataNavigation,
  outcomeBadge,
  outcomeOptions,
  pipelineSelect,
  queryPipeline,
  rejectedCount,
  rowCount,
  runsTable
} from "./pieces.ts"
import { DataRead } from "./read.ts"

const path = "/data/runs"
const runsPerPage = 50

const noRuns = (isFiltered: boolean) =>
  isFiltered
    ? empty("No such run", "No run matches.", linkButton(path, "Show all"))
    : empty("No runs yet", "Runs of larder-ingest are listed here, including those that published nothing.")

export const dataRunsPage: Page<DataRead> = {
  path,
  operatorsOnly: true,
  get: Effect.fnUntraced(function* ({ url }) {
    const pipeline = yield* queryPipeline(url)
    const outcomes = outcomeOptions.map(({ value }) => value)
    const outcome = yield* queryChoice(url, "outcome", outcomes)
    const before = queryValue(url, "before")
    const query = { pipeline, outcome, before, limit: runsPerPage }
    const { last, rows } = yield* DataRead.use((data) => data.runs(query))
    const options = [allOption("outcomes"), ...outcomeOptions]
    const isFiltered = pipeline !== undefined || outcome !== undefined || before !== undefined
    return show(
      "Runs",
      html`${dataNavigation(path)}
${searchForm(html`${pipelineSelect(pipeline)}${select({ name: "outcome", label: "Outcome", options, value: outcome })}`)}
${rows.length === 0 ? noRuns(isFiltered) : html`<div class="card">${runsTable("Runs, newest first", rows)}</div>`}
${filteredPaging(path, { pipeline, outcome }, before === undefined, last && { before: last.run_id })}`
    )
  })
}

const origins = { live: "the network", replay: "a recording", sample: "the bundled samples" } as const

const requestedDays = ({ window_from, window_to }: RunRecord): Fact | false => {
  const day = (iso: string | null) => (iso === null ? "…" : dayTag(iso))
  return (window_from ?? window_to) !== null && ["Days requested", html`${day(window_from)} to ${day(window_to)}`]
}

export const dataRunPage: Page<DataRead> = {
  path: `${path}/:id`,
  operatorsOnly: true,
  get: Effect.fnUntraced(function* ({ params }) {
    const found = yield* DataRead.use((data) => data.run(params.id ?? ""))
    if (Option.isNone(found)) return yield* new PageNotFound()
    const { checks, run } = found.value
    const isBad = run.outcome === "failed" || run.outcome === "checks_failed"
    const noChecks = empty("No checks", "This run ended before its checks, or had nothing new to check.")
    return show(
      `Run of ${pipelineTitle(run.pipeline)}, ${momentText(run.started_at)}`,
      html`${dataNavigation(path)}
${run.message !== null && notice(isBad ? "bad" : "warning", html`<pre class="message">${run.message}</pre>`)}
<div class="card">${facts([
        ["Outcome", outcomeBadge(run)],
        ["Started", momentTag(run.started_at)],
        [run.generation === null ? "Ended" : "Reading ended", momentTag(run.finished_at)],
        ["Read from", origins[run.origin]],
        requestedDays(run),
        ["Generation", run.generation ?? "none was published"],
        ["Rows read", rowCount(run.rows_read)],
        ["New", rowCount(run.rows_loaded)],
        ["Nothing new", rowCount(run.rows_unchanged)],
        ["Rejected", rejectedCount(run)],
        ["Run id", html`<code>${run.run_id}</code>`]
      ])}</div>
${section("Checks", checks.length === 0 ? noChecks : html`<div class="checks">${checkTable("Checks of this run", checks)}</div>`)}`
    )
  })
}
