/** The state of the warehouse: alerts, how fresh each data set is, the kept generations, and the latest runs. */
import type { ListedGeneration } from "@larder/warehouse"
import { Effect } from "effect"
import {
  badge,
  countText,
  type HtmlPart,
  html,
  keyFigures,
  notice,
  pluralize,
  renderEmptyState,
  section,
  stackedTable,
  table,
  timeTag
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { listAlerts, unknownFieldsText } from "./alerts.ts"
import { type DataSetState, pipelineTitle } from "./data-sets.ts"
import { dataFeedsPage } from "./feeds.ts"
import { dataFreshnessPage, lateAlerts, stateCounts } from "./freshness.ts"
import { leftOutAlerts } from "./left-out.ts"
import {
  ageText,
  bytesText,
  type DataPage,
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
import { checksText, dataChecksPage, dataRunPage, dataRunsPage } from "./runs.ts"

/** One line per item; false is skipped. */
const itemLines = (items: ReadonlyArray<HtmlPart>): HtmlPart =>
  items.map((item) => item && html`<div class="item">${item}</div>`)

const newestLines = (state: DataSetState, now: number) =>
  state.newest.map(
    ({ date, isMonth, what }) =>
      date !== null &&
      html`<small class="muted kind">${what}</small> ${isMonth ? monthWithAge(date, now) : dateWithAge(date, now)}`
  )

const dataSetTable = (dataSets: ReadonlyArray<DataSetState>, unserved: ReadonlySet<string>, now: number) =>
  stackedTable("Data sets and how fresh they are", dataSets, [
    ["Data set", ({ title }) => html`<span class="nowrap">${title}</span>`],
    [
      "Holds",
      ({ contents, isLoaded, pipeline }) =>
        isLoaded
          ? itemLines(contents.map(({ count, what }) => html`<span class="nowrap">${countText(count)} ${what}</span>`))
          : badge(unserved.has(pipeline) ? "cannot be served" : "not loaded", "warning")
    ],
    ["Newest", (state) => itemLines(newestLines(state, now))],
    [
      "Freshness",
      ({ freshness, pipeline }) => {
        const read = freshness
          .map(({ last_complete_read_at }) => last_complete_read_at ?? "")
          .toSorted()
          .at(-1)
        const age = read ? html`read completely ${ageText(read, now)}` : "never read completely"
        return itemLines([...stateCounts(pipeline, freshness), html`<small class="muted">${age}</small>`])
      }
    ],
    [
      "Last run",
      ({ last_run }) =>
        last_run === undefined
          ? "none"
          : html`<a href="${runPath(last_run.run_id)}">${timeTag(last_run.started_at)}</a> ${outcomeBadge(last_run)}`
    ]
  ])

const purposeText = ({ kind, pipeline, went_back_to }: ListedGeneration): HtmlPart => {
  const name = pipeline === null ? "All data sets" : pipelineTitle(pipeline)
  if (kind === "run") return name
  return kind === "rebuild" ? `${name}, rebuilt` : `${name}, back to ${went_back_to ?? "before its first run"}`
}

/** Shows kept and live generations, and rollbacks. Runs that changed nothing are only in the list of runs. */
const isShown = ({ kept, kind, live }: ListedGeneration) => kept || live || kind === "rollback"

const generationTable = (generations: ReadonlyArray<ListedGeneration>) =>
  table("Kept generations, newest first", generations.filter(isShown), [
    [
      "Generation",
      ({ generation, live, rolled_back_by }) =>
        html`${generation} ${live && badge("live", "good")}${rolled_back_by !== null && badge(`rolled back by ${rolled_back_by}`, "quiet")}`
    ],
    [
      "Made",
      ({ made_at, run_id }) =>
        run_id === null ? timeTag(made_at) : html`<a href="${runPath(run_id)}">${timeTag(made_at)}</a>`
    ],
    [
      "Data set",
      (listed) =>
        itemLines([
          purposeText(listed),
          listed.note !== null && html`<small>${listed.note}</small>`,
          listed.kind !== "run" && html`<small class="muted">by ${listed.made_by}</small>`
        ])
    ],
    ["New payload rows", ({ kind, rows }) => kind === "run" && rowCount(rows), "numeric"],
    ["Size", ({ bytes }) => bytesText(bytes), "numeric"]
  ])

const statePage: DataPage = {
  path: "/data",
  nav: "Data",
  get: Effect.fnUntraced(function* ({ now }) {
    const data = yield* DataRead
    const [dataSets, generations, checks, unknownFields, leftOut, { rows: runs }] = yield* Effect.all(
      [data.dataSets, data.generations, data.checks, data.unknownFields, data.leftOut, data.runs({ limit: 8 })],
      { concurrency: "unbounded" }
    )
    const failedChecks = checks.filter(({ bad_rows }) => bad_rows > 0)
    const unserved = data.unserved()
    const alerts = [
      ...listAlerts(dataSets, unserved, failedChecks),
      ...lateAlerts(data.freshness()),
      ...leftOutAlerts(leftOut)
    ]
    const [newest] = generations
    const sumSizes = (listed: typeof generations) => bytesText(listed.reduce((sum, { bytes }) => sum + bytes, 0))
    const kept = generations.filter((generation) => generation.kept)
    return show(
      "Data",
      html`${alerts.length > 0 && notice("warning", html`<ul>${alerts.map((alert) => html`<li>${alert}</li>`)}</ul>`)}
${unknownFields.length > 0 && notice("quiet", unknownFieldsText(unknownFields))}
${keyFigures([
  {
    label: "Live generation",
    value: data.generation(),
    details: newest === undefined ? null : `made ${ageText(newest.made_at, now)}`
  },
  {
    label: "Size of the live data",
    value: sumSizes(kept.filter(({ live }) => live)),
    details: `${sumSizes(kept)} in ${pluralize(kept.length, "generation")} with data`
  },
  { label: "Checks", value: checksText(checks), details: html`<a href="/data/checks">See the checks</a>` }
])}
${section("Freshness", dataSetTable(dataSets, unserved, now))}
${section("Generations", generationTable(generations))}
${section(
  "Latest runs",
  runs.length === 0
    ? renderEmptyState("No runs yet", "Runs of larder-ingest are listed here.")
    : html`<p class="hint">These are rows of payloads. A row may contain several prices, and a label consists of many rows.</p>
${runsTable("Runs, newest first", runs)}`,
  html`<a href="/data/runs">All runs</a>`
)}`
    )
  })
}

const tabs = [
  [statePage, "State"],
  [dataFreshnessPage, "Freshness"],
  [dataRunsPage, "Runs"],
  [dataFeedsPage, "Feeds"],
  [dataChecksPage, "Checks"],
  [dataRejectsPage, "Rejects"],
  [dataPricesPage, "Prices"]
] as const

const addTabs = (page: DataPage, tab = page): Page<DataRead> => {
  const links = tabs.map(
    ([{ path }, label]) =>
      html`<li><a href="${path}"${path === tab.path && html` aria-current="page"`}>${label}</a></li>`
  )
  const navigation = html`<nav class="tabs" aria-label="Data"><ul>${links}</ul></nav>`
  return {
    ...page,
    operatorsOnly: true,
    showsSampleNotice: true,
    get: (context) => Effect.map(page.get(context), (shown) => ({ ...shown, body: html`${navigation}\n${shown.body}` }))
  }
}

/** All pages about the warehouse, for operators only. They show no data of accounts. */
export const dataPages: ReadonlyArray<Page<DataRead>> = [
  ...tabs.map(([page]) => addTabs(page)),
  addTabs(dataRunPage, dataRunsPage)
]
