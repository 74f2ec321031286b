/** The state of the warehouse at a glance: how fresh each data set is, what is kept, what ran last, and what looks wrong. */
import { Effect } from "effect"
import { DataRead, type GenerationFile, type ShownCheck } from "../data-read.ts"
import type { DataSetState } from "../data-sets.ts"
import {
  badge,
  count,
  counted,
  empty,
  type Html,
  html,
  moment,
  notice,
  type Part,
  section,
  stats,
  table
} from "../html.ts"
import { type Page, show } from "../page.ts"
import { dataChecksPage } from "./data-checks.ts"
import { dataFeedsPage } from "./data-feeds.ts"
import { ago, bytesText, dataNavigation, dated, outcomeBadge, runPath, runTable } from "./data-pieces.ts"
import { dataPricesPage } from "./data-prices.ts"
import { dataRejectsPage } from "./data-rejects.ts"
import { dataRunPage, dataRunsPage } from "./data-runs.ts"

const lines = (parts: ReadonlyArray<Part>): Part => parts.map((part, index) => html`${index > 0 && html`<br>`}${part}`)

const dataSetTable = (dataSets: ReadonlyArray<DataSetState>, now: number) =>
  table({
    caption: "Data sets and how fresh they are",
    stacks: true,
    columns: [
      { label: "Data set" },
      { label: "Holds" },
      { label: "Newest" },
      { label: "Last complete read" },
      { label: "Last run" }
    ],
    rows: dataSets.map(({ holds, isLoaded, last_read, last_run, newest, title }) => [
      html`<span class="nowrap">${title}</span>`,
      isLoaded
        ? lines(holds.map((held) => html`<span class="nowrap">${count(held.count)} ${held.what}</span>`))
        : badge("not loaded", "warning"),
      lines(newest.flatMap(({ on, what }) => (on === null ? [] : [html`${what}: ${dated(on, now)}`]))),
      last_read === undefined ? "never" : dated(last_read.finished_at, now),
      last_run === undefined
        ? "none"
        : html`<a href="${runPath(last_run.run_id)}">${moment(last_run.started_at)}</a> ${outcomeBadge(last_run)}`
    ])
  })

const generationTable = (generations: ReadonlyArray<GenerationFile>) =>
  table({
    caption: "Generations that are kept, newest first",
    stacks: true,
    columns: [
      { label: "Generation" },
      { label: "Reading ended" },
      { label: "By" },
      { label: "New rows", numeric: true },
      { label: "Size", numeric: true }
    ],
    rows: generations.map(({ bytes, id, isLive, run }) => [
      html`${id} ${isLive && badge("live", "good")}`,
      run === undefined
        ? "not known to the live one"
        : html`<a href="${runPath(run.run_id)}">${moment(run.finished_at)}</a>`,
      run?.pipeline,
      run === undefined ? null : count(run.rows_loaded),
      bytesText(bytes)
    ])
  })

/** What somebody should look at now, in sentences; nothing where all is well. */
const worries = (dataSets: ReadonlyArray<DataSetState>, failing: ReadonlyArray<ShownCheck>): ReadonlyArray<Html> => [
  ...dataSets.flatMap(({ last_run, title }) =>
    last_run === undefined || last_run.outcome === "published" || last_run.outcome === "unchanged"
      ? []
      : [
          html`The last run of ${title} did not end well: ${outcomeBadge(last_run)} <a href="${runPath(last_run.run_id)}">See the run</a>`
        ]
  ),
  ...(failing.length === 0
    ? []
    : [
        html`${counted(failing.length, "check")} of the live generation found something. <a href="/data/checks">See the checks</a>`
      ])
]

const checksText = (all: number, failing: number) => {
  if (failing > 0) return `${count(failing)} found something`
  return all === 0 ? "None yet" : `All ${count(all)} passed`
}

export const dataPage: Page<DataRead> = {
  path: "/data",
  nav: "Data",
  operatorsOnly: true,
  get: ({ now }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const latest = data.runs({ pipeline: undefined, outcome: undefined, before: undefined, limit: 8 })
      const [dataSets, generations, checks, { rows: runs }] = yield* Effect.all(
        [data.dataSets, data.generations, data.checks, latest],
        { concurrency: "unbounded" }
      )
      const failing = checks.filter(({ bad_rows }) => bad_rows > 0)
      const told = worries(dataSets, failing)
      const live = generations.find(({ isLive }) => isLive)
      return show(
        "Data",
        html`${dataNavigation("/data")}
${told.length > 0 && notice("warning", html`<ul>${told.map((worry) => html`<li>${worry}</li>`)}</ul>`)}
${stats([
  {
    label: "Live generation",
    value: data.generation(),
    more: live?.run === undefined ? null : `${live.run.pipeline} finished reading ${ago(live.run.finished_at, now)}`
  },
  { label: "Size", value: bytesText(live?.bytes ?? 0), more: `${counted(generations.length, "generation")} kept` },
  {
    label: "Checks",
    value: checksText(checks.length, failing.length),
    more: failing.length > 0 && `of ${count(checks.length)}`
  }
])}
${section("Freshness", dataSetTable(dataSets, now))}
${section("Generations", generationTable(generations))}
${section(
  "Latest runs",
  runs.length === 0
    ? empty("No runs yet", "Runs of larder-ingest are listed here.")
    : runTable("Runs, newest first", runs),
  html`<a href="/data/runs">All runs</a>`
)}`
      )
    })
}

/** All pages about the warehouse. They show no account's data; operators alone may see them. */
export const dataPages: ReadonlyArray<Page<DataRead>> = [
  dataPage,
  dataRunsPage,
  dataRunPage,
  dataFeedsPage,
  dataChecksPage,
  dataRejectsPage,
  dataPricesPage
]
