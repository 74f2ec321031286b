/** `commodity.metric`: the lines of the catalog, with what the observations say about them after every run. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aCatalogLine } from "@larder/test/support/warehouse/catalog-line.ts"
import { aLayout, aRun, publishStaged, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect } from "effect"
import type { Layout } from "../generation/layout.ts"
import { stage } from "../publishing/staging.ts"
import { commodity, metricTable, observationVersionTable } from "./commodity/data-set.ts"

const aMetric = (metric_name: string, feed: string) =>
  aCatalogLine({ metric_name, feed, title: metric_name, measure: "mostly_low_price" })
const aValue = (metric_name: string, observed_on: string, value: string, published_at: string) => ({
  metric_name,
  observed_on,
  value,
  value_text: value,
  published_at,
  revision_status: null,
  freight: null,
  raw_sha256: "ab",
  fetched_at: "2026-10-01 12:00:00",
  source_row: 1
})

const publishRun = Effect.fnUntraced(function* (
  layout: Layout,
  lines: ReadonlyArray<ReturnType<typeof aMetric>>,
  values: ReadonlyArray<ReturnType<typeof aValue>>
) {
  const run = aRun({ pipeline: "commodities", rows_read: Math.min(values.length, 1) }) // all are in one row of a payload
  const { staged } = yield* stage(layout, run, commodity, (staging) =>
    Effect.all([
      staging.add(metricTable, lines),
      staging.add(
        observationVersionTable,
        values.map((value) => ({ ...value, run_id: run.run_id }))
      )
    ])
  )
  return yield* publishStaged(layout, commodity, staged, run)
}, Effect.scoped)

const listMetrics = (layout: Layout) =>
  queryWarehouse(
    layout,
    `select title, first_observed_on::varchar as first, last_observed_on::varchar as last, last_updated::varchar as updated,
       observations::integer as observations, publications::integer as publications, no_values_reason as reason
     from commodity.metric order by metric_name`
  )

/** A first run, and a second one with the first value of whey, another title of butter, and without a line, and a third one with nothing new. */
const threeRuns = oncePerFile(
  Effect.gen(function* () {
    const layout = yield* aLayout
    const [butter, low, whey] = [
      aMetric("butter", "gov-mars/1"),
      aMetric("butter_low", "gov-mars/1"),
      aMetric("whey", "gov-mars/2")
    ]
    yield* publishRun(
      layout,
      [butter, low, whey],
      [
        aValue("butter", "2026-09-19", "1.5", "2026-09-23 13:00:00"),
        aValue("butter", "2026-09-19", "1.6", "2026-09-30 13:00:00"),
        aValue("butter", "2026-09-26", "1.7", "2026-09-30 13:00:00")
      ]
    )
    const first = yield* listMetrics(layout)
    const renamed = { ...butter, title: "Butter, survey, weekly average" }
    yield* publishRun(layout, [renamed, whey], [aValue("whey", "2026-10-02", "0.6", "2026-10-01 10:00:00")])
    const second = yield* listMetrics(layout)
    const { run } = yield* publishRun(layout, [renamed, whey], [])
    return { first, second, outcome: run.outcome }
  })
)

const nothing = { first: null, last: null, updated: null, observations: 0, publications: 0 }
const ofButter = {
  first: "2026-09-19",
  last: "2026-09-26",
  updated: "2026-09-30 13:00:00",
  observations: 2,
  publications: 3,
  reason: null
}

describe("a metric", () => {
  itLive("has the range of its values and its newest publication, or the reason why it has none", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* threeRuns).first, [
        { title: "butter", ...ofButter },
        {
          title: "butter_low",
          ...nothing,
          reason: "gov-mars/1 was read, but the rows of this metric have no usable number in mostly_low_price."
        },
        {
          title: "whey",
          ...nothing,
          reason:
            "No usable number was read from gov-mars/2. If the last run left it out, `ingest.live_left_out` says why."
        }
      ])
    })
  )

  itLive("follows its values and its line of the catalog through later runs, and disappears with that line", () =>
    Effect.gen(function* () {
      const day = "2026-10-02"
      assert.deepStrictEqual((yield* threeRuns).second, [
        { title: "Butter, survey, weekly average", ...ofButter },
        {
          title: "whey",
          first: day,
          last: day,
          updated: "2026-10-01 10:00:00",
          observations: 1,
          publications: 1,
          reason: null
        }
      ])
    })
  )

  itLive("is nothing new if only the values say something that the catalog does not", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* threeRuns).outcome, "unchanged")
    })
  )
})
