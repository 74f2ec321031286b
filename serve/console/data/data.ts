/** The state of the warehouse: alerts, how fresh each data set is, the kept generations, and the latest runs. */
import { type CommodityModel, isLate, isOfSamples, type ListedGeneration } from "@larder/warehouse"
import { Effect } from "effect"
import {
  badge,
  countText,
  empty,
  type Html,
  type HtmlPart,
  html,
  keyFigures,
  momentTag,
  notice,
  numeric,
  pluralize,
  section,
  table
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { listAlerts, unknownFieldsText } from "./alerts.ts"
import { checksText, dataChecksPage } from "./checks.ts"
import { type DataSetState, pipelineTitle } from "./data-sets.ts"
import { dataFeedsPage } from "./feeds.ts"
import {
  ageText,
  bytesText,
  dataNavigation,
  dateWithAge,
  monthWithAge,
  outcomeBadge,
  rowCount,
  runPath,
  runsTable
} from "./pieces.ts"
import { dataPricesPage } from "./prices.ts"
import { DataRead } from "./read.ts"
import { dataRejectsPage } from "./rejects.ts"
import { dataRunPage, dataRunsPage } from "./runs.ts"
import { findStoppedSlugs } from "./stopped.ts"

const itemLines = (items: ReadonlyArray<HtmlPart>): HtmlPart =>
  items.map((item) => html`<div class="item">${item}</div>`)

/** A badge for data that is older than it should be. */
const lateBadge = (on: string, late_after: number | null, state: DataSetState, now: number): HtmlPart =>
  isLate(on, late_after, now) && html` ${isOfSamples(state) ? badge("sample") : badge("late", "warning")}`

const newestLines = (state: DataSetState, now: number) =>
  state.newest.flatMap(({ isMonth, late_after, on, what }) =>
    on === null
      ? []
      : [
          html`<small class="muted kind">${what}</small> ${isMonth ? monthWithAge(on, now) : dateWithAge(on, now)}${lateBadge(on, late_after, state, now)}`
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
    columns: ["Data set", "Holds", "Newest", "Last read", "Last run"],
    rows: dataSets.map((state) => {
      const { contents, isLoaded, last_read, last_run, pipeline, title } = state
      return [
        html`<span class="nowrap">${title}</span>`,
        isLoaded
          ? itemLines(contents.map(({ count, what }) => html`<span class="nowrap">${countText(count)} ${what}</span>`))
          : badge(unserved.has(pipeline) ? "cannot be served" : "not loaded", "warning"),
        itemLines([...newestLines(state, now), ...(pipeline === "commodities" && stopped ? [stopped] : [])]),
        last_read === undefined
          ? "never"
          : html`${dateWithAge(last_read.finished_at, now)}${lateBadge(last_read.finished_at, state.late_after_days, state, now)}`,
        last_run === undefined
          ? "none"
          : html`<a href="${runPath(last_run.run_id)}">${momentTag(last_run.started_at)}</a> ${outcomeBadge(last_run)}`
      ]
    })
  })

const purposeText = ({ kind, pipeline, went_back_to }: ListedGeneration): HtmlPart => {
  const name = pipeline === null ? "All data sets" : pipelineTitle(pipeline)
  if (kind === "run") return name
  return kind === "rebuild" ? `${name}, rebuilt` : `${name}, back to ${went_back_to ?? "before its first run"}`
}

/** Who made the generation, and why. */
const remarks = ({ kind, made_by, note }: ListedGeneration): ReadonlyArray<HtmlPart> => [
  ...(note === null ? [] : [html`<small>${note}</small>`]),
  ...(kind === "run" ? [] : [html`<small class="muted">by ${made_by}</small>`])
]

/** Shows kept and live generations, and rollbacks. Runs that changed nothing are only in the list of runs. */
const isShown = ({ kept, kind, live }: ListedGeneration) => kept || live || kind === "rollback"

const generationTable = (generations: ReadonlyArray<ListedGeneration>) =>
  table({
    caption: "Kept generations, newest first",
    columns: ["Generation", "Made", "Data set", numeric("New payload rows"), numeric("Size")],
    rows: generations
      .filter(isShown)
      .map((listed) => [
        html`${listed.generation} ${listed.live && badge("live", "good")}${listed.rolled_back_by !== null && badge(`rolled back by ${listed.rolled_back_by}`, "quiet")}`,
        listed.run_id === null
          ? momentTag(listed.made_at)
          : html`<a href="${runPath(listed.run_id)}">${momentTag(listed.made_at)}</a>`,
        itemLines([purposeText(listed), ...remarks(listed)]),
        listed.kind === "run" && rowCount(listed.rows),
        bytesText(listed.bytes)
      ])
  })

const stoppedText = (model: CommodityModel): Html | undefined => {
  const { size } = findStoppedSlugs(model)
  return size === 0
    ? undefined
    : html`<a href="/data/prices">${countText(size)} of ${countText(model.series.size)} series</a> ${badge("stopped", "warning")}`
}

const dataPage: Page<DataRead> = {
  path: "/data",
  nav: "Data",
  operatorsOnly: true,
  get: Effect.fnUntraced(function* ({ now }) {
    const data = yield* DataRead
    const [dataSets, generations, checks, unknownFields, { rows: runs }] = yield* Effect.all(
      [data.dataSets, data.generations, data.checks, data.unknownFields, data.runs({ limit: 8 })],
      { concurrency: "unbounded" }
    )
    const failedChecks = checks.filter(({ bad_rows }) => bad_rows > 0)
    const unserved = data.unserved()
    const alerts = listAlerts(dataSets, unserved, failedChecks, now)
    const [newest] = generations
    const sizeOf = (listed: typeof generations) => bytesText(listed.reduce((sum, { bytes }) => sum + bytes, 0))
    const kept = generations.filter((generation) => generation.kept)
    return show(
      "Data",
      html`${dataNavigation("/data")}
${alerts.length > 0 && notice("warning", html`<ul>${alerts.map((alert) => html`<li>${alert}</li>`)}</ul>`)}
${unknownFields.length > 0 && notice("quiet", unknownFieldsText(unknownFields))}
${keyFigures([
  {
    label: "Live generation",
    value: data.generation(),
    more: newest === undefined ? null : `made ${ageText(newest.made_at, now)}`
  },
  {
    label: "Size of the live data",
    value: sizeOf(kept.filter(({ live }) => live)),
    more: `${sizeOf(kept)} in ${pluralize(kept.length, "generation")} with data`
  },
  { label: "Checks", value: checksText(checks), more: html`<a href="/data/checks">See the checks</a>` }
])}
${section("Freshness", dataSetTable(dataSets, unserved, stoppedText(data.commodities()), now))}
${section("Generations", generationTable(generations))}
${section(
  "Latest runs",
  runs.length === 0
    ? empty("No runs yet", "Runs of larder-ingest are listed here.")
    : html`<p class="hint">Rows are those of the payloads: one may contain several prices, and many make one label.</p>
${runsTable("Runs, newest first", runs)}`,
  html`<a href="/data/runs">All runs</a>`
)}`
    )
  })
}

/** All pages about the warehouse, for operators only. They show no data of accounts. */
export const dataPages: ReadonlyArray<Page<DataRead>> = [
  dataPage,
  dataRunsPage,
  dataRunPage,
  dataFeedsPage,
  dataChecksPage,
  dataRejectsPage,
  dataPricesPage
].map((page) => ({ ...page, showsSampleNotice: true }))
