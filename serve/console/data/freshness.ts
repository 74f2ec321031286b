/** What `ingest.freshness` says about each metric, release form and store: what is late first. Larder judges lateness nowhere else. */
import { Freshness } from "@larder/schemas"
import { countStates, type FreshnessRow } from "@larder/warehouse"
import { Effect } from "effect"
import type { WarehouseState } from "../../monitoring/index.ts"
import { searchForm, select } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  type Html,
  type HtmlPart,
  html,
  nameCode,
  pluralize,
  renderEmptyState,
  stackedTable,
  type Tone,
  timeTag
} from "../web/html.ts"
import { show } from "../web/page.ts"
import { makePath, readChoice } from "../web/query.ts"
import { pipelineTitle } from "./data-sets.ts"
import { ageText, type DataPage, pipelineSelect, pipelineTitleTag, readPipeline } from "./pieces.ts"
import { DataRead } from "./read.ts"

type State = FreshnessRow["state"]

const path = "/data/freshness"
const maxRows = 200

/** In the order of lists. */
const stateTones: Readonly<Record<State, Tone>> = {
  late: "warning",
  not_read: "warning",
  not_loaded: "warning",
  fresh: "good",
  ended: "quiet",
  sample: "quiet"
}
const order = Object.keys(stateTones)
const stateText = (state: State) => state.replace("_", " ")

export const stateBadge = (state: State): Html => badge(stateText(state), stateTones[state])

/** `3 late`, `140 fresh`, with links to the list. */
export const stateCounts = (pipeline: string, rows: ReadonlyArray<FreshnessRow>): ReadonlyArray<Html> => {
  const counts = countStates(rows)
  return Freshness.fields.state.literals
    .filter((state) => counts[state] !== undefined)
    .toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
    .map(
      (state) =>
        html`<span class="nowrap"><a href="${makePath(path, { pipeline, state })}">${countText(counts[state] ?? 0)}</a> ${stateBadge(state)}</span>`
    )
}

/** `release form`, `metric`. */
const nounOf = (kind: string) => kind.replaceAll("_", " ").replace(/s$/, "")

/** `3 metrics of Commodities are late.` */
export const lateAlerts = ({ fault, freshness, read_at }: WarehouseState): ReadonlyArray<Html> => {
  const late = freshness.filter(({ state }) => state === "late")
  const alerts = [...Map.groupBy(late, ({ kind, pipeline }) => `${pipeline} ${kind}`).values()].flatMap((rows) => {
    const [first] = rows
    if (first === undefined) return []
    const { kind, pipeline } = first
    return html`${pluralize(rows.length, nounOf(kind))} of ${pipelineTitle(pipeline)} ${rows.length === 1 ? "is" : "are"} late. <a href="${makePath(path, { pipeline, state: "late" })}">See what is late</a>`
  })
  if (fault === undefined) return alerts
  const since = read_at === undefined ? "" : html` since ${timeTag(read_at)}`
  return [
    html`What is late is unknown${since}: <code>ingest.freshness</code> could not be read. See the server's log for the reason.`,
    ...alerts
  ]
}

const orNone = (value: string | null, show: (value: string) => Html): HtmlPart =>
  value === null ? "none" : show(value)

const subjectTable = (rows: ReadonlyArray<FreshnessRow>, now: number) =>
  stackedTable("What is read, and whether it is late", rows, [
    ["Subject", ({ kind, subject }) => html`${nameCode(subject)} <small class="muted">${nounOf(kind)}</small>`],
    ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
    ["State", ({ state }) => stateBadge(state)],
    ["Newest", ({ newest_on }) => orNone(newest_on, dayTag)],
    [
      "Last read completely",
      ({ last_complete_read_at }) =>
        orNone(last_complete_read_at, (at) => html`<time class="nowrap" datetime="${at}">${ageText(at, now)}</time>`)
    ],
    ["Why", ({ why }) => html`<div class="quoted">${why}</div>`]
  ])

export const dataFreshnessPage: DataPage = {
  path,
  get: Effect.fnUntraced(function* ({ now, url }) {
    const data = yield* DataRead
    const pipeline = yield* readPipeline(url)
    const state = yield* readChoice(url, "state", Freshness.fields.state.literals)
    const { freshness, read_at } = data.freshness()
    const rows = freshness
      .filter(
        (row) => (pipeline === undefined || row.pipeline === pipeline) && (state === undefined || row.state === state)
      )
      .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
    const options = order.map((value) => ({ value, label: stateText(value as State) }))
    const more =
      rows.length > maxRows &&
      html`<p class="hint">These are the first ${maxRows} of ${countText(rows.length)}: <code>ingest.freshness</code> has all of them.</p>`
    return show(
      "Freshness",
      html`<p class="lead">By the view <code>ingest.freshness</code>${read_at !== undefined && html`, read ${timeTag(read_at)}`}.</p>
${searchForm(html`${pipelineSelect(pipeline)}${select({ name: "state", label: "State", allLabel: "All states", options, value: state })}`)}
${more}
${rows.length === 0 ? renderEmptyState("Nothing", "Nothing is in this state.") : html`<div class="card">${subjectTable(rows.slice(0, maxRows), now)}</div>`}`
    )
  })
}
