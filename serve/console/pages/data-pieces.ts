/** What the pages about the warehouse have in common: their own navigation, ages, sizes, outcomes and lists of runs. */
import type { RunRecord } from "@larder/warehouse/generation/journal.ts"
import { pipelines } from "../data-sets.ts"
import { type Option, select } from "../form.ts"
import { badge, count, day, type Html, html, moment, type Part, type Tone, table } from "../html.ts"

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

/** A name of the data, which breaks only between its parts. */
export const named = (name: string): Html =>
  html`<code class="name">${name.split(/(?<=[_/-])/).map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}</code>`

/** A path with those parameters that have a value. */
export const pathWith = (path: string, parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** What a parameter of the address says; undefined where it is missing or empty. */
export const asked = (url: URL, name: string): string | undefined => url.searchParams.get(name)?.trim() || undefined

/** The choice that leaves a filter out. */
export const everyOne: Option = { value: "", label: "All" }
export const pipelineSelect = (value: string | undefined): Html =>
  select({
    name: "pipeline",
    label: "Pipeline",
    options: [everyOne, ...pipelines.map((name) => ({ value: name, label: name }))],
    value: value ?? ""
  })

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000]
] as const
const relative = new Intl.RelativeTimeFormat("en-US", { numeric: "auto" })
/** `3 days ago`, of a day or a moment. */
export const ago = (iso: string, now: number): string => {
  const millis = now - Date.parse(iso)
  const isDay = iso.length === 10
  const [unit, size] = units.find(([name, size]) => (isDay ? name === "day" : millis >= size)) ?? units[2]
  return relative.format(-Math.max(0, Math.floor(millis / size)), unit)
}

/** A day or a moment, and how long ago that was. */
export const dated = (iso: string, now: number): Html =>
  html`${iso.length === 10 ? day(iso) : moment(iso)} <small class="age">${ago(iso, now)}</small>`

/** `1.2 GB`, in powers of 1,000, as disks are sold. */
export const bytesText = (bytes: number): string => {
  const names = ["bytes", "kB", "MB", "GB", "TB"]
  const power = bytes < 1000 ? 0 : Math.min(names.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${names[power]}`
}

/** `12 s`, `3 min 5 s` */
export const secondsText = (seconds: number): string =>
  seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`

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

/** What went wrong may be a page long; the whole of it stands on the run's own page. */
const firstLineOf = (message: string | null): string | null => {
  const line = message?.split("\n")[0] ?? null
  return line !== null && line.length > 160 ? `${line.slice(0, 160)}…` : line
}

/** In one line. */
export const pipelineName = (name: string): Html => html`<span class="nowrap">${name}</span>`

export const runTable = (caption: string, runs: ReadonlyArray<RunRecord>): Html =>
  table({
    caption,
    stacks: true,
    columns: [
      { label: "Started" },
      { label: "Pipeline" },
      { label: "Outcome" },
      { label: "Read", numeric: true },
      { label: "New", numeric: true },
      { label: "Unchanged", numeric: true },
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
        count(run.rows_read),
        count(run.rows_loaded),
        count(run.rows_unchanged),
        run.rows_rejected === 0
          ? "0"
          : html`<a href="${pathWith("/data/rejects", { run: run.run_id })}">${count(run.rows_rejected)}</a>`,
        secondsText(secondsOf(run)),
        run.generation ?? "none"
      ]
    })
  })
