/** Sentences about what an operator should look at now; empty if all is well. */
import { hasFailed, isLate, isOfSamples } from "@larder/warehouse"
import { counted, day, type Html, html, month } from "../web/html.ts"
import type { DataSetState } from "./data-sets.ts"
import { outcomeBadge, runPath } from "./pieces.ts"
import type { ShownCheck } from "./read.ts"

const lateOnes = ({ last_read, late_after_days, newest, title }: DataSetState, now: number): ReadonlyArray<Html> => [
  ...newest.flatMap(({ isMonth, late_after, on, what }) =>
    on !== null && isLate(on, late_after, now)
      ? [
          html`The newest ${what} of ${title} is of ${isMonth ? month(on) : day(on)}. That is late: it should be less than ${late_after} days old.`
        ]
      : []
  ),
  ...(last_read !== undefined && isLate(last_read.finished_at, late_after_days, now)
    ? [
        html`The last read of ${title} ended on ${day(last_read.finished_at)}. That is late: larder-ingest should read it every ${late_after_days / 2 === 1 ? "day" : `${late_after_days / 2} days`}.`
      ]
    : [])
]

const badEnd = ({ last_run, title }: DataSetState): ReadonlyArray<Html> =>
  last_run === undefined || last_run.outcome === "published" || last_run.outcome === "unchanged"
    ? []
    : [
        html`The last run of ${title} ${hasFailed(last_run) ? "failed" : "did not read everything"}: ${outcomeBadge(last_run)} <a href="${runPath(last_run.run_id)}">See the run</a>`
      ]

const notServed = ({ isLoaded, pipeline, title }: DataSetState, unserved: ReadonlySet<string>): ReadonlyArray<Html> =>
  unserved.has(pipeline)
    ? [
        html`The newest data of ${title} cannot be served${isLoaded && ": what was before is"}. The log of the server says why.`
      ]
    : []

export const alerts = (
  dataSets: ReadonlyArray<DataSetState>,
  /** Pipelines whose newest data cannot be served. */
  unserved: ReadonlySet<string>,
  failing: ReadonlyArray<ShownCheck>,
  now: number
): ReadonlyArray<Html> => [
  ...dataSets.flatMap((state) => [
    ...notServed(state, unserved),
    ...badEnd(state),
    ...(isOfSamples(state) ? [] : lateOnes(state, now))
  ]),
  ...(failing.length === 0
    ? []
    : [
        html`${counted(failing.length, "check")} of the live generation found something. <a href="/data/checks">See the checks</a>`
      ])
]

/** Not a warning: an unknown field stays listed, and many are of no use. */
export const unknownToMappings = (fields: ReadonlyArray<unknown>): Html =>
  html`Upstream has ${fields.length === 1 ? "a field that no mapping knows" : "fields that no mapping knows"}. <a href="/data/feeds">See the feeds</a>`
