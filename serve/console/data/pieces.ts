/** Shared parts of the pages about the warehouse: their navigation, ages, sizes, outcomes and lists of runs. */
import type { RunRecord } from "@larder/schemas"
import { type SelectOption, select } from "../web/form.ts"
import {
  badge,
  countText,
  dayTag,
  type Html,
  type HtmlPart,
  html,
  momentTag,
  monthTag,
  numeric,
  type Tone,
  table
} from "../web/html.ts"
import { pathWithQuery, queryChoice } from "../web/query.ts"
import { pipelineNames, pipelineTitle } from "./data-sets.ts"

const pages = [
  ["/data", "State"],
  ["/data/runs", "Runs"],
  ["/data/feeds", "Feeds"],
  ["/data/checks", "Checks"],
  ["/data/rejects", "Rejects"],
  ["/data/prices", "Prices"]
] as const

/** Links to the other pages about the warehouse. */
export const dataNavigation = (current: (typeof pages)[number][0]): Html =>
  html`<nav class="tabs" aria-label="Data"><ul>${pages.map(
    ([path, name]) => html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${name}</a></li>`
  )}</ul></nav>`

export const queryPipeline = (url: URL) => queryChoice(url, "pipeline", pipelineNames)

/** The option without a filter, such as `All pipelines`. */
export const allOption = (what: string): SelectOption => ({ value: "", label: `All ${what}` })
export const pipelineSelect = (value: string | undefined): Html => {
  const options = pipelineNames.map((name) => ({ value: name, label: pipelineTitle(name) }))
  return select({ name: "pipeline", label: "Pipeline", options: [allOption("pipelines"), ...options], value })
}

const dayMilliseconds = 86_400_000
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" })
const daysSinceEpoch = (millis: number) => Math.floor(millis / dayMilliseconds)
/** `3 days ago`, from a day or a time. Days are UTC calendar days: `yesterday` is the date before today's. */
export const ageText = (iso: string, now: number): string => {
  const then = Date.parse(iso)
  const millis = Math.max(0, now - then)
  if (iso.length === 10 || millis >= dayMilliseconds) {
    return relative.format(daysSinceEpoch(then) - daysSinceEpoch(now), "day")
  }
  const minutes = Math.floor(millis / 60_000)
  return minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.floor(minutes / 60), "hour")
}

/** A day or a time, and its age. */
export const dateWithAge = (iso: string, now: number): Html =>
  html`${iso.length === 10 ? dayTag(iso) : momentTag(iso)} <small class="age">${ageText(iso, now)}</small>`

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
const firstLine = (message: string | null): string | null => {
  const line = message?.split("\n")[0] ?? null
  return line !== null && line.length > 160 ? `${line.slice(0, 160)}…` : line
}

/** The title of the pipeline, without line breaks. */
export const pipelineName = (name: string): Html => html`<span class="nowrap">${pipelineTitle(name)}</span>`

/** Unknown for a failed run. */
export const rowCount = (rows: number | null): HtmlPart =>
  rows === null ? html`<small>not known</small>` : countText(rows)

/** With a link to the rejects: all of them, or the first ten thousand of a failed run. */
export const rejectedCount = ({ rows_rejected, run_id }: RunRecord): HtmlPart =>
  rows_rejected === null || rows_rejected === 0
    ? rowCount(rows_rejected)
    : html`<a href="${pathWithQuery("/data/rejects", { run: run_id })}">${countText(rows_rejected)}</a>`

export const runsTable = (caption: string, runs: ReadonlyArray<RunRecord>): Html =>
  table({
    caption,
    stacks: true,
    columns: [
      "Started",
      "Pipeline",
      "Outcome",
      numeric("Rows read"),
      numeric("New"),
      numeric("Nothing new"),
      numeric("Rejected"),
      numeric("Read in"),
      "Generation"
    ],
    rows: runs.map((run): ReadonlyArray<HtmlPart> => {
      const message = firstLine(run.message)
      return [
        html`<a href="${runPath(run.run_id)}">${momentTag(run.started_at)}</a>`,
        pipelineName(run.pipeline),
        html`${outcomeBadge(run)}${message !== null && html`<br><small>${message}</small>`}`,
        rowCount(run.rows_read),
        rowCount(run.rows_loaded),
        rowCount(run.rows_unchanged),
        rejectedCount(run),
        durationText(run),
        run.generation ?? "none"
      ]
    })
  })
