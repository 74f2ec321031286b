import { assert, describe, it } from "@effect/vitest"
import { commodity, DuckDb } from "@larder/warehouse"
import { deriveStatements } from "@larder/warehouse/publishing/merge.ts"
import { Effect } from "effect"
import { catalog } from "./catalog.ts"
import { commodityChecks } from "./checks.ts"
import { catalogRows } from "./stage/catalog-rows.ts"

interface Version {
  readonly metric_name: string
  readonly observed_on: string
  readonly value: string
  readonly published_at?: string
  readonly raw_sha256?: string
}

/** A warehouse in memory with the whole catalog and these values. */
const warehouse = Effect.fnUntraced(function* (versions: ReadonlyArray<Version>) {
  const db = yield* DuckDb.memory
  yield* db.run("create schema commodity")
  for (const { ddl } of [...commodity.tables, ...commodity.views]) yield* db.run(ddl)
  const cells = (table: (typeof commodity.tables)[number], rows: ReadonlyArray<object>) =>
    rows.map((row) => Object.keys(table.record.fields).map((column) => Reflect.get(row, column) ?? null))
  const parseRows = (name: string) =>
    name === "observation_version"
      ? versions.map(({ observed_on, value, ...version }, index) => ({
          published_at: `${observed_on} 12:00:00`,
          raw_sha256: "payload",
          fetched_at: "2026-10-01 13:00:00",
          ...version,
          observed_on,
          value,
          value_text: value,
          revision_status: null,
          freight: null,
          run_id: "run",
          source_row: index + 1
        }))
      : catalogRows(catalog(), new Map()).flatMap(({ rows, table }) => (table.name === name ? [...rows] : []))
  for (const table of commodity.tables) yield* db.append("commodity", table.name, cells(table, parseRows(table.name)))
  for (const sql of deriveStatements(commodity)) yield* db.run(sql)
  return db
})

const badRows = (name: string, db: DuckDb["Service"]) => {
  const check = commodityChecks.find((other) => other.name === name)
  assert.isDefined(check, `there is no check ${name}`)
  return db.rows(check.sql)
}

const close = (observed_on: string, value: string): Version => ({
  metric_name: "butter_exch_spot_close_daily",
  observed_on,
  value
})
const range = (column: string, value: string): Version => ({
  metric_name: `lactose_us_central_and_west_${column}_weekly`,
  observed_on: "2026-09-25",
  value
})
const classIV = (observed_on: string, announced: string, butter: string, powder: string): ReadonlyArray<Version> => [
  { metric_name: "milk_class_iv_price_monthly", observed_on, value: announced },
  { metric_name: "butter_survey_average_monthly", observed_on, value: butter },
  { metric_name: "nonfat_dry_milk_survey_average_monthly", observed_on, value: powder }
]
/** Monday to Friday; their mean is 1.3915. */
const week = [
  close("2026-09-21", "1.3800"),
  close("2026-09-22", "1.3850"),
  close("2026-09-23", "1.3900"),
  close("2026-09-24", "1.4000"),
  close("2026-09-25", "1.4025")
]
const weeklyAverage = (value: string): Version => ({
  metric_name: "butter_exch_spot_average_weekly",
  observed_on: "2026-09-25",
  value
})

/** Data that a check must accept, and the fault that it must find. */
const cases: ReadonlyArray<readonly [check: string, mistake: string, ReadonlyArray<Version>, ReadonlyArray<Version>]> =
  [
    [
      "prices_are_positive",
      "a missing price that became 0",
      [
        close("2026-09-25", "0.0025"),
        { ...close("2026-09-25", "-0.04"), metric_name: "butter_basis_us_west_price_min_weekly" }
      ],
      [close("2026-09-25", "0")]
    ],
    [
      "values_have_metrics",
      "a metric that was renamed or removed",
      [close("2026-09-25", "1.4025")],
      [{ ...close("2026-09-25", "1.4025"), metric_name: "butter_close" }]
    ],
    ["closes_on_ticks", "a close that was misread", week, [close("2026-09-25", "1.4026")]],
    ["closes_on_weekdays", "a close that was misdated", week, [close("2026-09-26", "1.4025")]],
    [
      "weekly_average_is_mean_of_closes",
      "an average of another week or product",
      [...week, weeklyAverage("1.3915")],
      [...week, weeklyAverage("1.3917")]
    ],
    [
      "mostly_within_range",
      "columns that were mixed up",
      [
        range("price_min", "0.56"),
        range("mostly_low", "0.62"),
        range("mostly_high", "0.72"),
        range("price_max", "0.76")
      ],
      [range("price_min", "0.56"), range("mostly_low", "0.54")]
    ],
    [
      "class_iv_follows_its_formula",
      "a class price of another month",
      [
        ...classIV("2012-05-01", "13.55", "1.3657", "1.1551"),
        ...classIV("2026-07-01", "18.34", "1.6050", "1.6390").slice(0, 1)
      ],
      classIV("2012-05-01", "13.57", "1.3657", "1.1551")
    ]
  ]

describe("a check", () => {
  it.effect.each(cases)("%s finds %s, and nothing in valid data", ([name, , valid, faulty]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* badRows(name, yield* warehouse(valid)), [])
      assert.isNotEmpty(yield* badRows(name, yield* warehouse(faulty)))
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["insert into commodity.metric select * from commodity.metric limit 1", "listed twice"],
    ["insert into commodity.series select * from commodity.series limit 1", "listed twice"],
    ["delete from commodity.metric where metric_name = 'butter_sales_price_weekly'", "has no metric"],
    ["delete from commodity.product where slug = 'lactose'", "has no product"],
    [
      "update commodity.metric set frequency = 'biweekly' where metric_name = 'butter_sales_price_weekly'",
      "is biweekly"
    ]
  ] as const)("catalog_is_consistent finds inconsistencies: %s", ([sql, fault]) =>
    Effect.gen(function* () {
      const db = yield* warehouse([])
      assert.deepStrictEqual(yield* badRows("catalog_is_consistent", db), [])
      yield* db.run(sql)
      assert.include((yield* badRows("catalog_is_consistent", db)).flatMap(Object.values), fault)
    }).pipe(Effect.scoped)
  )

  it.effect("metrics_have_values lists metrics without a value, except mostly ranges", () =>
    Effect.gen(function* () {
      const names = (yield* badRows("metrics_have_values", yield* warehouse(week))).map(
        ({ metric_name }) => metric_name
      )
      assert.include(names, "milk_class_i_price_monthly")
      assert.notInclude(names, "butter_exch_spot_close_daily")
      assert.notInclude(names, "lactose_us_central_and_west_mostly_low_weekly")
    }).pipe(Effect.scoped)
  )

  it.effect("finds no error in a warehouse without values", () =>
    Effect.gen(function* () {
      const db = yield* warehouse([])
      const errors = commodityChecks.filter(
        ({ isLiveComparison, severity }) => severity === "error" && !isLiveComparison
      )
      for (const { name } of errors) assert.deepStrictEqual(yield* badRows(name, db), [], name)
    }).pipe(Effect.scoped)
  )
})

describe("the description of a check", () => {
  it("spells classes of milk as the trade does", () => {
    const named = commodityChecks.flatMap(({ description }) => description.match(/\bclass [IV]+\b/gi) ?? [])
    assert.deepStrictEqual([...new Set(named)].sort(), ["Class IV"])
  })
})

describe("the formula of Class IV", () => {
  it.effect("uses the allowances from June 2025 on and the solids from December 2025 on", () =>
    Effect.gen(function* () {
      const classIVIn = (month: string, announced: string) => classIV(month, announced, "2.5430", "1.2800")
      const findErrors = (versions: ReadonlyArray<Version>) =>
        Effect.flatMap(warehouse(versions), (db) => badRows("class_iv_follows_its_formula", db))
      // butterfat (2.5430 - 0.1715) × 1.211 = 2.8719, solids (1.2800 - 0.1678) × 0.99 × 9 = 9.91: 19.61 before June 2025
      assert.deepStrictEqual(yield* findErrors(classIVIn("2025-05-01", "19.61")), [])
      // butterfat 2.8044, solids (1.2800 - 0.2393) × 0.99 × 9 = 9.27: 18.76, and with 9.3 for solids 19.06
      assert.deepStrictEqual(yield* findErrors(classIVIn("2025-06-01", "18.76")), [])
      assert.deepStrictEqual(yield* findErrors(classIVIn("2025-12-01", "19.06")), [])
      assert.isNotEmpty(yield* findErrors(classIVIn("2025-06-01", "19.61")))
      assert.isNotEmpty(yield* findErrors(classIVIn("2025-11-01", "19.06")))
    }).pipe(Effect.scoped)
  )
})
