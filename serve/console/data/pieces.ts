/** Shared parts of the pages about the warehouse: ages, sizes, outcomes and lists of runs. */
import type { RunRecord } from "@larder/schemas"
import type { Effect } from "effect"
import { select } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  type Html,
  type HtmlPart,
  html,
  monthTag,
  stackedTable,
  type Tone,
  timeTag
} from "../web/html.ts"
import type { Page, PageContext, ShownPage } from "../web/page.ts"
import { makePath, readChoice } from "../web/query.ts"
import { pipelineNames, pipelineTitle } from "./data-sets.ts"
import type { DataRead } from "./read.ts"

/** A page about the warehouse. `data.ts` adds the tabs that link these pages. */
export interface DataPage extends Pick<Page, "nav" | "path"> {
  readonly get: (context: PageContext) => Effect.Effect<ShownPage, unknown, DataRead>
}

export const readPipeline = (url: URL) => readChoice(url, "pipeline", pipelineNames)

export const pipelineSelect = (value: string | undefined): Html => {
  const options = pipelineNames.map((name) => ({ value: name, label: pipelineTitle(name) }))
  return select({ name: "pipeline", label: "Pipeline", allLabel: "All pipelines", options, value })
}

const dayMilliseconds = 86_400_000
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" })
const daysSinceEpoch = (millis: number) => Math.floor(millis / dayMilliseconds)
/** `3 days ago`, from a day or a time. Days are UTC calendar days: `yesterday` is the date before today's. */
export const ageText = (iso: string, now: number): string => {
  const time = Date.parse(iso)
  const millis = Math.max(0, now - time)
  if (iso.length === 10 || millis >= dayMilliseconds) {
    return relative.format(daysSinceEpoch(time) - daysSinceEpoch(now), "day")
  }
  const minutes = Math.floor(millis / 60_000)
  return minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.floor(minutes / 60), "hour")
}

export const dateWithAge = (iso: string, now: number): Html =>
  html`${iso.length === 10 ? dayTag(iso) : timeTag(iso)} <small class="age">${ageText(iso, now)}</small>`

const monthsSinceEpoch = (iso: string) => new Date(iso).getUTCFullYear() * 12 + new Date(iso).getUTCMonth()
/** The month of a day, and its age, such as `last month`. */
export const monthWithAge = (iso: string, now: number): Html => {
  const months = monthsSinceEpoch(iso) - monthsSinceEpoch(new Date(now).toISOString())
  return html`${monthTag(iso)} <small class="age">${relative.format(months, "month")}</small>`
}

const byteUnits = ["bytes", "kB", "MB", "GB", "TB"]
/** `1.2 GB`, in powers of 1,000, as disks are sold. */
export const bytesText = (bytes: number): string => {
  const fitting = byteUnits.findIndex((_, power) => Math.round(bytes / 1000 ** power) < 1000)
  const power = fitting === -1 ? byteUnits.length - 1 : fitting
  const value = bytes / 1000 ** power
  return `${value < 9.95 && power > 0 ? value.toFixed(1) : Math.round(value)} ${byteUnits[power]}`
}

/** The duration of a run: `12 s`, `3 min 5 s`. */
export const durationText = ({ finished_at, started_at }: Pick<RunRecord, "finished_at" | "started_at">): string => {
  const whole = Math.round((Date.parse(finished_at) - Date.parse(started_at)) / 1000)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

const outcomes: Readonly<Record<RunRecord["outcome"], readonly [text: string, tone: Tone]>> = {
  published: ["published", "good"],
  unchanged: ["nothing new", "quiet"],
  partial: ["partly read", "warning"],
  failed: ["failed", "bad"],
  checks_failed: ["checks failed", "bad"],
  interrupted: ["interrupted", "warning"]
}
export const outcomeOptions = Object.entries(outcomes).map(([value, [label]]) => ({ value, label }))
export const outcomeBadge = ({ outcome }: RunRecord): Html => badge(...outcomes[outcome])

export const runPath = (run_id: string): string => `/data/runs/${encodeURIComponent(run_id)}`

/** The start of a message, which may be a page long; the page of the run shows all of it. */
export const firstLine = (message: string): string => {
  const [line = ""] = message.split("\n")
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}

/** The title of the pipeline, without line breaks. */
export const pipelineTitleTag = (name: string): Html => html`<span class="nowrap">${pipelineTitle(name)}</span>`

/** The counts of a failed run are null. */
export const rowCount = (rows: number | null): HtmlPart =>
  rows === null ? html`<small>unknown</small>` : countText(rows)

/** With a link to the rejects: all of them, or the first ten thousand of a failed run. */
export const rejectedCount = ({ rows_rejected, run_id }: RunRecord): HtmlPart =>
  rows_rejected === null || rows_rejected === 0
    ? rowCount(rows_rejected)
    : html`<a href="${makePath("/data/rejects", { run: run_id })}">${countText(rows_rejected)}</a>`

export const runsTable = (caption: string, runs: ReadonlyArray<RunRecord>): Html =>
  stackedTable(caption, runs, [
    ["Started", ({ run_id, started_at }) => html`<a href="${runPath(run_id)}">${timeTag(started_at)}</a>`],
    ["Pipeline", ({ pipeline }) => pipelineTitleTag(pipeline)],
    [
      "Outcome",
      (run) => html`${outcomeBadge(run)}${run.message !== null && html`<br><small>${firstLine(run.message)}</small>`}`
    ],
    ["Rows read", ({ rows_read }) => rowCount(rows_read), "numeric"],
    ["New", ({ rows_loaded }) => rowCount(rows_loaded), "numeric"],
    ["Nothing new", ({ rows_unchanged }) => rowCount(rows_unchanged), "numeric"],
    ["Rejected", rejectedCount, "numeric"],
    ["Read in", durationText, "numeric"],
    ["Generation", ({ generation }) => generation ?? "none"]
  ])
