/**
 * Runs of the pipelines: the list of all runs, one run with its failures, and checks. A check is a query that returns
 * bad rows.
 */
import type { RunRecord } from "@larder/schemas"
import { Effect, Option } from "effect"
import { searchForm, select } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  type Fact,
  facts,
  type Html,
  html,
  linkButton,
  nameCode,
  notice,
  renderEmptyState,
  section,
  stackedTable,
  timeTag,
  timeText
} from "../web/html.ts"
import { PageNotFound, show } from "../web/page.ts"
import { listPaging, readChoice, readParameter } from "../web/query.ts"
import { pipelineTitle } from "./data-sets.ts"
import {
  type DataPage,
  outcomeBadge,
  outcomeOptions,
  pipelineSelect,
  readPipeline,
  rejectedCount,
  rowCount,
  runPath,
  runsTable
} from "./pieces.ts"
import { type CheckRow, DataRead } from "./read.ts"

const resultBadge = ({ bad_rows, severity }: CheckRow): Html => {
  if (bad_rows === 0) return badge("passed", "good")
  return badge(
    `${countText(bad_rows)} bad ${bad_rows === 1 ? "row" : "rows"}`,
    severity === "error" ? "bad" : "warning"
  )
}

const checkTable = (caption: string, checks: ReadonlyArray<CheckRow>): Html =>
  stackedTable(caption, checks, [
    ["Check", ({ name }) => nameCode(name)],
    [
      "Result",
      (check) =>
        html`${resultBadge(check)}${
          check.bad_rows > 0 && html`<details><summary>Examples</summary><pre>${check.examples}</pre></details>`
        }`
    ],
    ["Holds when", ({ description }) => description],
    [
      "If it fails",
      ({ severity }) => html`<span class="nowrap">${severity === "error" ? "nothing is published" : "a warning"}</span>`
    ]
  ])

/** `All 28 passed`, or how many found bad rows. */
export const checksText = (checks: ReadonlyArray<CheckRow>): string => {
  const failing = checks.filter(({ bad_rows }) => bad_rows > 0).length
  if (failing > 0) return `${countText(failing)} of ${countText(checks.length)} found bad rows`
  return checks.length === 0 ? "None yet" : `All ${countText(checks.length)} passed`
}

const path = "/data/runs"
const runsPerPage = 50

const noRuns = (isFiltered: boolean) =>
  isFiltered
    ? renderEmptyState("No such run", "No run matches.", linkButton(path, "Show all"))
    : renderEmptyState("No runs yet", "Runs of larder-ingest are listed here, including those that published nothing.")

export const dataRunsPage: DataPage = {
  path,
  get: Effect.fnUntraced(function* ({ url }) {
    const pipeline = yield* readPipeline(url)
    const outcomes = outcomeOptions.map(({ value }) => value)
    const outcome = yield* readChoice(url, "outcome", outcomes)
    const before = readParameter(url, "before")
    const query = { pipeline, outcome, before, limit: runsPerPage }
    const { last, rows } = yield* DataRead.use((data) => data.runs(query))
    const isFiltered = pipeline !== undefined || outcome !== undefined || before !== undefined
    return show(
      "Runs",
      html`${searchForm(html`${pipelineSelect(pipeline)}${select({ name: "outcome", label: "Outcome", allLabel: "All outcomes", options: outcomeOptions, value: outcome })}`)}
${rows.length === 0 ? noRuns(isFiltered) : html`<div class="card">${runsTable("Runs, newest first", rows)}</div>`}
${listPaging(path, { pipeline, outcome }, before === undefined, last && { before: last.run_id })}`
    )
  })
}

const origins = { live: "the network", replay: "a recording", sample: "the bundled samples" } as const

const requestedDays = ({ window_from, window_to }: RunRecord): Fact | false => {
  const day = (iso: string | null) => (iso === null ? "…" : dayTag(iso))
  return (window_from ?? window_to) !== null && ["Days requested", html`${day(window_from)} to ${day(window_to)}`]
}

export const dataRunPage: DataPage = {
  path: `${path}/:id`,
  get: Effect.fnUntraced(function* ({ params }) {
    const found = yield* DataRead.use((data) => data.run(params.id ?? ""))
    if (Option.isNone(found)) return yield* new PageNotFound()
    const { checks, run } = found.value
    const isBad = run.outcome === "failed" || run.outcome === "checks_failed"
    const noChecks = renderEmptyState("No checks", "This run ended before its checks, or had nothing new to check.")
    return show(
      `Run of ${pipelineTitle(run.pipeline)}, ${timeText(run.started_at)}`,
      html`${run.message !== null && notice(isBad ? "bad" : "warning", html`<pre class="message">${run.message}</pre>`)}
<div class="card">${facts([
        ["Outcome", outcomeBadge(run)],
        ["Started", timeTag(run.started_at)],
        [run.generation === null ? "Ended" : "Reading ended", timeTag(run.finished_at)],
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

const runSection = Effect.fnUntraced(function* (run_id: string, checks: ReadonlyArray<CheckRow>) {
  const found = yield* DataRead.use((data) => data.run(run_id))
  const title = pipelineTitle(checks[0]?.pipeline ?? "")
  const link = Option.map(found, ({ run }) => html`<a href="${runPath(run_id)}">${timeTag(run.started_at)}</a>`)
  return section(title, checkTable(`Checks of ${title}`, checks), Option.getOrNull(link))
})

/** Checks of the live generation, failed ones first. */
export const dataChecksPage: DataPage = {
  path: "/data/checks",
  get: Effect.fnUntraced(function* () {
    const checks = yield* DataRead.use((data) => data.checks)
    const byRun = Map.groupBy(checks, ({ run_id }) => run_id)
    const sections = yield* Effect.forEach(byRun, ([run_id, checksOfRun]) => runSection(run_id, checksOfRun))
    return show(
      "Checks",
      html`<p class="lead">${checks.length > 0 && html`<strong>${checksText(checks)}.</strong> `}A run checks what it has read before its generation goes live. These are the checks of the newest published run of each pipeline.</p>
${checks.length === 0 ? renderEmptyState("No checks yet", "They run when larder-ingest publishes something.") : html`<div class="checks">${sections}</div>`}`
    )
  })
}
