/** Periods of observations, and metrics of different weekdays and frequencies that are joined by week or month. */
import { assert, describe } from "@effect/vitest"
import { type Unit, units } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aCatalogLine } from "@larder/test/support/warehouse/catalog-line.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { deriveStatements } from "../publishing/merge.ts"
import { commodity, metricTable } from "./commodity/data-set.ts"
import { define } from "./dictionary.ts"
import { toCells } from "./tables.ts"

const observations: ReadonlyArray<
  readonly [metric: string, frequency: string, unit: Unit, days: Record<string, number>]
> = [
  ["survey", "weekly", "usd_per_lb", { "2026-08-29": 1.5, "2026-09-05": 1.6 }], // Saturdays
  ["exchange", "weekly", "usd_per_lb", { "2026-08-28": 1.4, "2026-09-04": 1.5 }], // Fridays
  ["close", "daily", "usd_per_lb", { "2026-08-31": 1, "2026-09-01": 2, "2026-09-04": 4, "2026-09-07": 8 }],
  ["sales", "daily", "lb", { "2026-08-31": 10, "2026-09-01": 20, "2026-09-04": 40 }],
  ["loads", "daily", "count", { "2026-09-01": 3, "2026-09-04": 4 }],
  ["share", "daily", "percent", { "2026-09-01": 3, "2026-09-04": 4 }],
  ["export", "biweekly", "usd_per_metric_ton", { "2026-09-04": 3000, "2026-09-18": 3100 }],
  ["class", "monthly", "usd_per_cwt", { "2026-02-01": 17.5 }],
  ["year", "annual", "usd_per_cwt", { "2025-01-01": 18 }]
]

const session = oncePerFile(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-periods-" })
    const db = yield* DuckDb.readWrite(`${folder}/prices.duckdb`)
    yield* define(db, commodity)
    for (const [metric_name, frequency, unit, days] of observations) {
      const line = aCatalogLine({ metric_name, unit, aggregation: units[unit].aggregation, frequency })
      yield* db.append("commodity", "metric", toCells(metricTable, [line]))
      for (const [day, value] of Object.entries(days)) {
        yield* db.run(
          `insert into commodity.observation_version values ('${metric_name}', '${day}', ${value}, '${value}', '2026-10-01', null, null, 'run', 'sha', '2026-10-01', 1)`
        )
      }
    }
    for (const sql of deriveStatements(commodity)) yield* db.run(sql)
    return db
  })
)

/** Text per row, its columns separated by blanks. */
const list = (sql: string) =>
  Effect.gen(function* () {
    const rows = yield* (yield* session).rows(sql)
    return rows.map((row) => Object.values(row).join(" "))
  })

describe("observations of several frequencies", () => {
  itLive("have the first and last day of their period", () =>
    Effect.gen(function* () {
      const columns = "metric_name, period_start::varchar, period_end::varchar"
      assert.deepStrictEqual(
        yield* list(
          `select ${columns} from commodity.observation
           where metric_name not in ('sales', 'loads', 'share') qualify row_number() over (partition by metric_name order by observed_on) = 1 order by all`
        ),
        [
          "class 2026-02-01 2026-02-28",
          "close 2026-08-31 2026-08-31",
          "exchange 2026-08-24 2026-08-28",
          "export 2026-08-22 2026-09-04",
          "survey 2026-08-23 2026-08-29",
          "year 2025-01-01 2025-12-31"
        ]
      )
    })
  )
  itLive("are joined by the week, whatever day their weeks end on", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* list(`
          select week::varchar, survey.value, exchange.value, close.value, close.observations
          from commodity.weekly('survey') survey
          join commodity.weekly('exchange') exchange using (week)
          left join commodity.weekly('close') close using (week)
          order by week`),
        ["2026-08-24 1.500000 1.400000  ", "2026-08-31 1.600000 1.500000 2.333333 3"]
      )
    })
  )
  itLive(
    "are joined by the month in which their periods end: prices and percentages as means, pounds and counts as sums",
    () =>
      Effect.gen(function* () {
        const monthly = (metric: string) =>
          list(`select month::varchar, value, observations from commodity.monthly('${metric}') order by month`)
        assert.deepStrictEqual(yield* monthly("close"), ["2026-08-01 1.000000 1", "2026-09-01 4.666667 3"])
        assert.deepStrictEqual(yield* monthly("sales"), ["2026-08-01 10.000000 1", "2026-09-01 60.000000 2"])
        assert.deepStrictEqual(yield* monthly("loads"), ["2026-09-01 7.000000 2"])
        assert.deepStrictEqual(yield* monthly("share"), ["2026-09-01 3.500000 2"])
        assert.deepStrictEqual(yield* monthly("survey"), ["2026-08-01 1.500000 1", "2026-09-01 1.600000 1"])
        assert.deepStrictEqual(yield* monthly("export"), ["2026-09-01 3050.000000 2"])
        assert.deepStrictEqual(yield* monthly("class"), ["2026-02-01 17.500000 1"])
      })
  )
  itLive("are not divided into shorter periods, and an unknown metric is an error", () =>
    Effect.gen(function* () {
      const errors = {
        "weekly('class')": "weekly: class is monthly, and cannot be divided into weeks",
        "weekly('export')": "weekly: export is biweekly, and cannot be divided into weeks",
        "monthly('year')": "monthly: year is annual, and cannot be divided into months",
        "weekly('butter')": "weekly: no metric is called butter",
        "monthly(null)": "monthly: no metric is called null"
      }
      for (const [call, message] of Object.entries(errors)) {
        const error = yield* Effect.flip(list(`from commodity.${call}`))
        assert.include(error.message, message)
      }
    })
  )
})
