/** Numbers of the views can be multiplied, and used in statistics, up to the largest that their tables can have. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { brandedFood, foodTable } from "./branded_food/data-set.ts"
import { commodity } from "./commodity/data-set.ts"
import { define } from "./dictionary.ts"
import { storefront } from "./storefront/data-set.ts"
import type { DataSet } from "./tables.ts"
import { widerNumbers } from "./wider-numbers.ts"

/** Prices, basis quotes, pounds, and the largest and smallest numbers of 18 digits. */
const values = ["1.614", "-0.0125", "6950", "10362221", "999999999999.999999", "-999999999999.999999", "0.000001", "0"]
const prices = ["4.5", "99999.99", "99999999999999.9999", "0.0001"]

const decimals = [...foodTable.ddl.matchAll(/^ {2}(\w+) decimal/gm)].map(([, column = ""]) => column)
/** The decimals of a column, and what to select them from: those in a list as rows. */
const listNumbers = (column: string, type: string, view: string): ReadonlyArray<readonly [string, string]> => {
  if (type.startsWith("DECIMAL")) return [[column, view]]
  const fields = [...type.matchAll(/"?(\w+)"? DECIMAL/g)].map(([, field = ""]) => field)
  return fields.map((field) => [field, `(select unnest(${column}, recursive := true) from ${view})`] as const)
}
/** Their numbers are those of a table that has rows. */
const hasNoRows = ["storefront.wider_listing"]

const list = (numbers: ReadonlyArray<string>, row: (number: string, index: number) => string) =>
  numbers.map(row).join(", ")

const cases: ReadonlyArray<{
  readonly dataSet: DataSet
  readonly rows: string
  /** Decimal columns of macros. Those of all views are added. */
  readonly macros: ReadonlyArray<readonly [column: string, from: string]>
}> = [
  {
    dataSet: commodity,
    rows: `insert into commodity.observation_version values ${list(
      values,
      (value, index) =>
        `('metric', date '2026-01-01' + ${index}, ${value}, '${value}', '2026-02-01', null, null, 'run', 'sha', '2026-02-01', ${index})`
    )}`,
    macros: [["value", "commodity.observation_as_of('2026-03-01')"]]
  },
  {
    dataSet: storefront,
    rows: `
      insert into storefront.product (product_id, store_id, price_min, price_max, variants)
      select 'p' || i, 's', price, price, [{ variant_id: 'v' || i, price: price, compare_at_price: price }]
      from (values ${list(prices, (price, index) => `(${index}, ${price}::decimal(18, 4))`)}) of (i, price);
      insert into storefront.variant_change values ${list(
        prices,
        (price, index) => `('v${index}', 'p', 's', '2026-02-01', 'first_seen', ${price}, ${price}, 'EUR', true)`
      )}`,
    macros: [
      ["price", "storefront.variant_as_of('2026-03-01')"],
      ["compare_at_price", "storefront.variant_as_of('2026-03-01')"]
    ]
  },
  {
    dataSet: brandedFood,
    rows: `
      insert into branded_food.food (fdc_id, nutrients, daily_values, ${list(decimals, (column) => column)})
      select i, [{ nutrient_id: 1, amount: number, derivation_id: null }], [{ nutrient_id: 1, percent: least(abs(number), 9999999) }],
        ${list(decimals, () => "number")}
      from (values ${list(values, (value, index) => `(${index}, ${value}::decimal(18, 6))`)}) of (i, number);
      insert into branded_food.version (fdc_id, is_current, is_current_of_gtin) select fdc_id, true, true from branded_food.food`,
    macros: []
  }
]

describe("the numbers of the views", () => {
  for (const { dataSet, macros, rows } of cases) {
    itLive(`of ${dataSet.schema} can be multiplied, summed, and used in statistics`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-arithmetic-" })
        const db = yield* DuckDb.readWrite(`${folder}/numbers.duckdb`)
        yield* define(db, { tables: dataSet.tables, views: dataSet.views })
        // only the columns of the test are filled
        for (const { name, schema, record } of dataSet.tables)
          for (const column of Object.keys(record.fields))
            yield* Effect.ignore(db.run(`alter table ${schema}.${name} alter ${column} drop not null`))
        yield* db.run(rows)
        for (const table of dataSet.tables) {
          const wider = widerNumbers(table)
          if (wider !== "")
            yield* db.run(
              `create view ${table.schema}.wider_${table.name} as select * replace (${wider}) from ${table.schema}.${table.name}`
            )
        }
        const columns = yield* db.rows(
          `select column_name, data_type, duckdb_columns.schema_name || '.' || table_name as view_name from duckdb_columns()
           join duckdb_views() on (duckdb_columns.schema_name, table_name) = (duckdb_views.schema_name, view_name)
           where contains(data_type, 'DECIMAL(')`
        )
        const ofViews = columns.flatMap(({ column_name, data_type, view_name }) =>
          listNumbers(String(column_name), String(data_type), String(view_name))
        )
        assert.isNotEmpty(ofViews)
        for (const [column, from] of [...ofViews, ...macros]) {
          if (hasNoRows.includes(from)) continue
          const [row] = yield* db.rows(
            `select count(*)::integer as rows, sum(${column} * ${column}) as squares, sum(${column} * 2 * ${column}) as doubled,
               var_samp(${column}) as variance, corr(${column}, ${column} * ${column}) as correlation,
               regr_slope(${column}, ${column} * 2) as slope
             from ${from}`
          )
          assert.isAbove(Number(row?.rows), 3, from)
          assert.closeTo(Number(row?.slope), 0.5, 1e-9, from)
          assert.isAbove(Number(row?.squares), 1e14, from)
          for (const value of Object.values(row ?? {}))
            assert.isFalse(value === null || Number.isNaN(Number(value)), from)
        }
      })
    )
  }
})
