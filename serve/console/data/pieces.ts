/** Shared parts of the pages about the warehouse: their navigation, ages, sizes, outcomes and lists of runs. */
import type { RunRecord } from "@larder/schemas"
import { Effect } from "effect"
import { type Option, select } from "../web/form.ts"
import { badge, count, day, type Html, html, moment, month, type Part, type Tone, table } from "../web/html.ts"
import { PageNotFound } from "../web/page.ts"
import { pipelines, titleOfPipeline } from "./data-sets.ts"

const parts = [
  ["/data", "State"],
  ["/data/runs", "Runs"],
  ["/data/feeds", "Feeds"],
  ["/data/checks", "Checks"],
  ["/data/rejects", "Rejects"],
  ["/data/prices", "Prices"]
] as const
export type DataPath = (typeof parts)[number][0]

/** Links to the other pages about the warehouse. */
export const dataNavigation = (current: DataPath): Html =>
  html`<nav class="tabs" aria-label="Data"><ul>${parts.map(
    ([path, name]) => html`<li><a href="${path}"${path === current && html` aria-current="page"`}>${name}</a></li>`
  )}</ul></nav>`

/** A name in the data; wraps only between its parts. */
export const named = (name: string): Html =>
  html`<code class="name">${name.split(/(?<=[_/-])/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</code>`

/** A path with the parameters that have a value. */
export const pathWith = (path: string, parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** A parameter of the query; undefined if it is missing or empty. */
export const asked = (url: URL, name: string): string | undefined => url.searchParams.get(name)?.trim() || undefined

/** A parameter with a value from a list; any other value gives 404. */
export const askedOneOf = (
  url: URL,
  name: string,
  known: ReadonlyArray<string>
): Effect.Effect<string | undefined, PageNotFound> => {
  const value = asked(url, name)
  return value === undefined || known.includes(value) ? Effect.succeed(value) : Effect.fail(new PageNotFound())
}

/** The option without a filter, such as `All pipelines`. */
export const all = (what: string): Option => ({ value: "", label: `All ${what}` })
export const askedPipeline = (url: URL) => askedOneOf(url, "pipeline", pipelines)
export const pipelineSelect = (value: string | undefined): Html =>
  select({
    name: "pipeline",
    label: "Pipeline",
    options: [all("pipelines"), ...pipelines.map((name) => ({ value: name, label: titleOfPipeline(name) }))],
    value: value ?? ""
  })

const millisOfDay = 86_400_000
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" })
const daysSinceEpoch = (millis: number) => Math.floor(millis / millisOfDay)
/** `3 days ago`, from a day or a time. Days are UTC calendar days: `yesterday` is the date before today's. */
export const ago = (iso: string, now: number): string => {
  const then = Date.parse(iso)
  const millis = Math.max(0, now - then)
  if (iso.length === 10 || millis >= millisOfDay) {
    return relative.format(daysSinceEpoch(then) - daysSinceEpoch(now), "day")
  }
  const minutes = Math.floor(millis / 60_000)
  return minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.floor(minutes / 60), "hour")
}

/** A day or a time, and how long ago it was. */
export const dated = (iso: string, now: number): Html =>
  html`${iso.length === 10 ? day(iso) : moment(iso)} <small class="age">${ago(iso, now)}</small>`

const monthsSinceEpoch = (iso: string) => new Date(iso).getUTCFullYear() * 12 + new Date(iso).getUTCMonth()
/** The month of a day, and how long ago it was: `last month`. */
export const datedMonth = (iso: string, now: number): Html => {
  const months = monthsSinceEpoch(iso) - monthsSinceEpoch(new Date(now).toISOString())
  return html`${month(iso)} <small class="age">${relative.format(months, "month")}</small>`
}

const byteUnits = ["bytes", "kB", "MB", "GB", "TB"]
/** `1.2 GB`, in powers of 1,000, as disks are sold. */
export const bytesText = (bytes: number): string => {
  const fitting = byteUnits.findIndex((_, power) => Math.round(bytes / 1000 ** power) < 1000)
  const power = fitting === -1 ? byteUnits.length - 1 : fitting
  const value = bytes / 1000 ** power
  return `${value < 9.95 && power > 0 ? value.toFixed(1) : Math.round(value)} ${byteUnits[power]}`
}

/** `12 s`, `3 min 5 s` */
export const secondsText = (seconds: number): string => {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

const outcomes: Readonly<Record<RunRecord["outcome"], readonly [words: string, tone: Tone]>> = {
  published: ["published", "good"],
  unchanged: ["nothing new", "quiet"],
  partial: ["partly read", "warning"],
  failed: ["failed", "bad"],
  checks_failed: ["checks failed", "bad"],
  interrupted: ["interrupted", "warning"]
}
export const outcomeNames = Object.keys(outcomes)
export const outcomeWords = (name: string): string =>
  Object.entries(outcomes).find(([outcome]) => outcome === name)?.[1][0] ?? name
export const outcomeBadge = ({ outcome }: RunRecord): Html => badge(...outcomes[outcome])

export const runPath = (run_id: string): string => `/data/runs/${encodeURIComponent(run_id)}`
const secondsOf = ({ finished_at, started_at }: RunRecord) => (Date.parse(finished_at) - Date.parse(started_at)) / 1000

/** The first line of a message, which may be a page long; the run's own page shows all of it. */
const firstLineOf = (message: string | null): string | null => {
  const line = message?.split("\n")[0] ?? null
  return line !== null && line.length > 160 ? `${line.slice(0, 160)}…` : line
}

/** The title of the pipeline, without line breaks. */
export const pipelineName = (name: string): Html => html`<span class="nowrap">${titleOfPipeline(name)}</span>`

/** Number of rows of a run; unknown for a failed run. */
export const rowsOf = (rows: number | null): Part => (rows === null ? html`<small>not known</small>` : count(rows))

/** Number of rejected rows, with a link to them: all of them, or the first ten thousand of a failed run. */
export const rejectedOf = ({ rows_rejected, run_id }: RunRecord): Part =>
  rows_rejected === null || rows_rejected === 0
    ? rowsOf(rows_rejected)
    : html`<a href="${pathWith("/data/rejects", { run: run_id })}">${count(rows_rejected)}</a>`

export const runTable = (caption: string, runs: ReadonlyArray<RunRecord>): Html =>
  table({
    caption,
    stacks: true,
    columns: [
      { label: "Started" },
      { label: "Pipeline" },
      { label: "Outcome" },
      { label: "Rows read", numeric: true },
      { label: "New", numeric: true },
      { label: "Nothing new", numeric: true },
      { label: "Rejected", numeric: true },
      { label: "Read in", numeric: true },
      { label: "Generation" }
    ],
    rows: runs.map((run): ReadonlyArray<Part> => {
      const message = firstLineOf(run.message)
      return [
        html`<a href="${runPath(run.run_id)}">${moment(run.started_at)}</a>`,
        pipelineName(run.pipeline),
        html`${outcomeBadge(run)}${message !== null && html`<br><small>${message}</small>`}`,
        rowsOf(run.rows_read),
        rowsOf(run.rows_loaded),
        rowsOf(run.rows_unchanged),
        rejectedOf(run),
        secondsText(secondsOf(run)),
        run.generation ?? "none"
      ]
    })
  })
