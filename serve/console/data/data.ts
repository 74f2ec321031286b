/**
 * The state of the warehouse at a glance: how fresh each data set is, the kept generations, the latest runs, and
 * warnings.
 */
import { type CommodityModel, isLate, isOfSamples, type ListedGeneration } from "@larder/warehouse"
import { Effect } from "effect"
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
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { alerts, unknownToMappings } from "./alerts.ts"
import { checksText, dataChecksPage } from "./checks.ts"
import { type DataSetState, titleOfPipeline } from "./data-sets.ts"
import { dataFeedsPage } from "./feeds.ts"
import { ago, bytesText, dataNavigation, dated, datedMonth, outcomeBadge, rowsOf, runPath, runTable } from "./pieces.ts"
import { dataPricesPage } from "./prices.ts"
import { DataRead } from "./read.ts"
import { dataRejectsPage } from "./rejects.ts"
import { dataRunPage, dataRunsPage } from "./runs.ts"
import { stoppedSeries } from "./stopped.ts"

const lines = (parts: ReadonlyArray<Part>): Part => parts.map((part) => html`<div class="item">${part}</div>`)

/** A badge for data that is older than it should be. */
const lateBadge = (on: string, late_after: number | null, state: DataSetState, now: number): Part =>
  isLate(on, late_after, now) && html` ${isOfSamples(state) ? badge("sample") : badge("late", "warning")}`

const newestOf = (state: DataSetState, now: number) =>
  state.newest.flatMap(({ isMonth, late_after, on, what }) =>
    on === null
      ? []
      : [
          html`<small class="muted kind">${what}</small> ${isMonth ? datedMonth(on, now) : dated(on, now)}${lateBadge(on, late_after, state, now)}`
        ]
  )

const dataSetTable = (
  dataSets: ReadonlyArray<DataSetState>,
  unserved: ReadonlySet<string>,
  stopped: Html | undefined,
  now: number
) =>
  table({
    caption: "Data sets and how fresh they are",
    stacks: true,
    columns: [
      { label: "Data set" },
      { label: "Holds" },
      { label: "Newest" },
      { label: "Last read" },
      { label: "Last run" }
    ],
    rows: dataSets.map((state) => {
      const { holds, isLoaded, last_read, last_run, pipeline, title } = state
      return [
        html`<span class="nowrap">${title}</span>`,
        isLoaded
          ? lines(holds.map((held) => html`<span class="nowrap">${count(held.count)} ${held.what}</span>`))
          : badge(unserved.has(pipeline) ? "cannot be served" : "not loaded", "warning"),
        lines([...newestOf(state, now), ...(pipeline === "commodities" && stopped ? [stopped] : [])]),
        last_read === undefined
          ? "never"
          : html`${dated(last_read.finished_at, now)}${lateBadge(last_read.finished_at, state.late_after_days, state, now)}`,
        last_run === undefined
          ? "none"
          : html`<a href="${runPath(last_run.run_id)}">${moment(last_run.started_at)}</a> ${outcomeBadge(last_run)}`
      ]
    })
  })

/** The purpose of a generation. */
const whatOf = ({ kind, pipeline, went_back_to }: ListedGeneration): Part => {
  const name = pipeline === null ? "All data sets" : titleOfPipeline(pipeline)
  if (kind === "run") return name
  return kind === "rebuild" ? `${name}, rebuilt` : `${name}, back to ${went_back_to ?? "before its first run"}`
}

/** Who made the generation, and why. */
const remarksOf = ({ kind, made_by, note }: ListedGeneration): ReadonlyArray<Part> => [
  ...(note === null ? [] : [html`<small>${note}</small>`]),
  ...(kind === "run" ? [] : [html`<small class="muted">by ${made_by}</small>`])
]

/** Shows kept and live generations, and rollbacks. Runs that changed nothing are only in the list of runs. */
const isShown = ({ kept, kind, live }: ListedGeneration) => kept || live || kind === "rollback"

const generationTable = (generations: ReadonlyArray<ListedGeneration>) =>
  table({
    caption: "Kept generations, newest first",
    columns: [
      { label: "Generation" },
      { label: "Made" },
      { label: "Data set" },
      { label: "New payload rows", numeric: true },
      { label: "Size", numeric: true }
    ],
    rows: generations
      .filter(isShown)
      .map((listed) => [
        html`${listed.generation} ${listed.live && badge("live", "good")}${listed.rolled_back_by !== null && badge(`rolled back by ${listed.rolled_back_by}`, "quiet")}`,
        listed.run_id === null
          ? moment(listed.made_at)
          : html`<a href="${runPath(listed.run_id)}">${moment(listed.made_at)}</a>`,
        lines([whatOf(listed), ...remarksOf(listed)]),
        listed.kind === "run" && rowsOf(listed.rows),
        bytesText(listed.bytes)
      ])
  })

const stoppedText = (model: CommodityModel): Html | undefined => {
  const { size } = stoppedSeries(model)
  return size === 0
    ? undefined
    : html`<a href="/data/prices">${count(size)} of ${count(model.series.size)} series</a> ${badge("stopped", "warning")}`
}

export const dataPage: Page<DataRead> = {
  path: "/data",
  nav: "Data",
  operatorsOnly: true,
  get: ({ now }) =>
    Effect.gen(function* () {
      const data = yield* DataRead
      const latest = data.runs({ pipeline: undefined, outcome: undefined, before: undefined, limit: 8 })
      const [dataSets, generations, checks, fields, { rows: runs }] = yield* Effect.all(
        [data.dataSets, data.generations, data.checks, data.unknownFields, latest],
        { concurrency: "unbounded" }
      )
      const failing = checks.filter(({ bad_rows }) => bad_rows > 0)
      const unserved = data.unserved()
      const shown = alerts(dataSets, unserved, failing, now)
      const [newest] = generations
      const sizeOf = (of: typeof generations) => of.reduce((sum, { bytes }) => sum + bytes, 0)
      const kept = generations.filter((listed) => listed.kept)
      return show(
        "Data",
        html`${dataNavigation("/data")}
${shown.length > 0 && notice("warning", html`<ul>${shown.map((alert) => html`<li>${alert}</li>`)}</ul>`)}
${fields.length > 0 && notice("quiet", unknownToMappings(fields))}
${stats([
  {
    label: "Live generation",
    value: data.generation(),
    more: newest === undefined ? null : `made ${ago(newest.made_at, now)}`
  },
  {
    label: "Size of what is live",
    value: bytesText(sizeOf(kept.filter(({ live }) => live))),
    more: `${bytesText(sizeOf(kept))} in ${counted(kept.length, "generation")} with data`
  },
  {
    label: "Checks",
    value: checksText(checks),
    more: html`<a href="/data/checks">See the checks</a>`
  }
])}
${section("Freshness", dataSetTable(dataSets, unserved, stoppedText(data.commodities()), now))}
${section("Generations", generationTable(generations))}
${section(
  "Latest runs",
  runs.length === 0
    ? empty("No runs yet", "Runs of larder-ingest are listed here.")
    : html`<p class="hint">Rows are those of the payloads: one may give several prices, and many make one label.</p>
${runTable("Runs, newest first", runs)}`,
  html`<a href="/data/runs">All runs</a>`
)}`
      )
    })
}

/** All pages about the warehouse. They show no account's data; only operators may see them. */
export const dataPages: ReadonlyArray<Page<DataRead>> = [
  dataPage,
  dataRunsPage,
  dataRunPage,
  dataFeedsPage,
  dataChecksPage,
  dataRejectsPage,
  dataPricesPage
].map((page) => ({ ...page, showsSampleNotice: true }))
