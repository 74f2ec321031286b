/** What somebody should look at now, in sentences; nothing where all is well. */
import type { ShownCheck } from "../data-read.ts"
import { type DataSetState, isLate, readIsLateAfter } from "../data-sets.ts"
import { counted, day, type Html, html, month } from "../html.ts"
import { outcomeBadge, runPath } from "./data-pieces.ts"

/** The bundled samples end where they were recorded; nothing newer is to come. */
export const isSample = ({ last_read, last_run }: DataSetState): boolean => (last_read ?? last_run)?.origin === "sample"

const lateOnes = ({ last_read, newest, title }: DataSetState, now: number): ReadonlyArray<Html> => [
  ...newest.flatMap(({ isMonth, late_after, on, what }) =>
    on !== null && isLate(on, late_after, now)
      ? [
          html`The newest ${what} of ${title} is of ${isMonth ? month(on) : day(on)}. That is late: it should be less than ${late_after} days old.`
        ]
      : []
  ),
  ...(last_read !== undefined && isLate(last_read.finished_at, readIsLateAfter, now)
    ? [
        html`The last complete read of ${title} ended on ${day(last_read.finished_at)}. That is late: larder-ingest should read it every day.`
      ]
    : [])
]

const badEnd = ({ last_run, title }: DataSetState): ReadonlyArray<Html> =>
  last_run === undefined || last_run.outcome === "published" || last_run.outcome === "unchanged"
    ? []
    : [
        html`The last run of ${title} failed: ${outcomeBadge(last_run)} <a href="${runPath(last_run.run_id)}">See the run</a>`
      ]

export const worries = (
  dataSets: ReadonlyArray<DataSetState>,
  failing: ReadonlyArray<ShownCheck>,
  now: number
): ReadonlyArray<Html> => [
  ...dataSets.flatMap((state) => [...badEnd(state), ...(isSample(state) ? [] : lateOnes(state, now))]),
  ...(failing.length === 0
    ? []
    : [
        html`${counted(failing.length, "check")} of the live generation found something. <a href="/data/checks">See the checks</a>`
      ])
]

/** No worry: such a field stays known as unknown, and many are of no use. */
export const unknownToMappings = (fields: ReadonlyArray<unknown>): Html =>
  html`Upstream has ${fields.length === 1 ? "a field that no mapping knows" : "fields that no mapping knows"}. <a href="/data/feeds">See the feeds</a>`

const listed = new Intl.ListFormat("en-US")

/** Samples are no worry, but whoever takes them for what is true today should know: all data sets that came from them. */
export const fromSamples = (dataSets: ReadonlyArray<DataSetState>): Html | null => {
  const samples = dataSets.filter((state) => state.isLoaded && isSample(state))
  return samples.length === 0
    ? null
    : html`${listed.format(samples.map(({ title }) => title))}: these are the bundled samples, which do not get newer. <code>LARDER_SOURCES=live</code> reads the sources themselves.`
}
