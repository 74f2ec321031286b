/** Shrinkage checks of each pipeline, over tables with only the compared columns. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { DuckDb, literal } from "@larder/warehouse"
import { Effect, FileSystem } from "effect"
import { checksWithLive, runChecks } from "../../warehouse/publishing/check.ts"
import { runTable } from "../../warehouse/tables/ingest-tables.ts"
import { brandedFoodChecks } from "../branded-foods/checks.ts"
import { commodityChecks } from "../commodities/checks.ts"
import { checks as storeChecks } from "../storefronts/checks.ts"

const shrinkageChecks = [...brandedFoodChecks, ...commodityChecks, ...storeChecks].filter(
  (check) => check.isLiveComparison === true && check.severity === "error"
)

/** Labels 1 to `labels` with two nutrients each; the first `poor` of them have lost one in this run. Every tenth is current. */
const foods = (labels: number, poor = 0) => `
  create schema branded_food;
  create table branded_food.version as select i as fdc_id, i % 10 = 0 as is_current from range(1, ${labels} + 1) of(i);
  create table branded_food.food as
    select i as fdc_id, if(i <= ${poor}, 'now', 'before') as run_id,
      [{'nutrient_id': 1003, 'amount': 1}, {'nutrient_id': 1008, 'amount': if(i <= ${poor}, null, 2)}] as nutrients
    from range(1, ${labels} + 1) of(i)`
const forms = (...loads: ReadonlyArray<readonly [run: string, day: string, rows: number]>) => `
  create table ingest.raw_file as
  select 'branded-foods' as pipeline, 'gov-fdc/csv' as feed, run as run_id, 'https://a/csv_' || day || '.zip' as url,
    rows_read, 1 as rows_rejected
  from (values ${loads.map(([run, day, rows]) => `('${run}', '${day}', ${rows + 1})`).join(", ")}) loads(run, day, rows_read)`
/** A release in a folder, as earlier runs read it: the payloads of its files. */
const folder = (...files: ReadonlyArray<readonly [run: string, name: string, rows: number]>) => `
  create table ingest.raw_file as
  select 'branded-foods' as pipeline, 'gov-fdc/csv' as feed, run as run_id, 'file:csv_2026-04-30/' || name as url,
    rows_read, 0 as rows_rejected
  from (values ${files.map(([run, name, rows]) => `('${run}', '${name}', ${rows})`).join(", ")}) files(run, name, rows_read)`
const points = (count: number) => `
  create schema commodity;
  create table commodity.metric as select 'butter' as metric_name;
  create table commodity.observation_version as select 'butter' as metric_name, i // 2 as observed_on from range(${2 * count}) of(i)`
/** Two stores of a hundred products each; the second now lists fewer. */
const products = (second: number, hasAllProducts: boolean) => `
  create schema storefront;
  create table storefront.sighting as
    select 'product' as kind, i as id, i // 100 as store_id, i < ${100 + second} as is_listed from range(200) of(i);
  create table ingest.store_read as
    select 'now' as run_id, 1 as store_id, ${hasAllProducts} as has_all_products, true as is_taken`

const [food, form, price, product] = [
  foods(1000),
  forms(["before", "2026-04-30", 20_000]),
  points(100),
  products(100, false)
] as const
const before = [food, form, price, product]

/** Returns the checks that fail because there is less than in `live`, with their bad rows. */
const findShrinkage = Effect.fnUntraced(function* (
  changed: ReadonlyArray<string>,
  acceptShrinkage = false,
  live = before
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-shrinkage-" })
  const makeDatabase = (name: string, statements: ReadonlyArray<string>) =>
    Effect.tap(DuckDb.readWrite(`${folder}/${name}`), (db) =>
      db.run(["create schema ingest", runTable.ddl, ...statements].join(";"))
    )
  yield* Effect.scoped(makeDatabase("live.duckdb", live))
  const db = yield* makeDatabase("now.duckdb", changed)
  yield* db.run(`attach ${literal(`${folder}/live.duckdb`)} as live (read_only)`)
  const outcomes = yield* runChecks(db, checksWithLive(shrinkageChecks, acceptShrinkage), aRun({ run_id: "now" }))
  return outcomes.flatMap(({ bad_rows, examples, name, severity }) =>
    bad_rows === 0 ? [] : [{ name, severity, found: JSON.parse(examples) }]
  )
})

const error = "error" as const

describe("a generation that is smaller than the live one", () => {
  itLive("fails when it has more than 5 % fewer current labels, with the figures", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* findShrinkage([foods(950), form, price, product]), [])
      assert.deepStrictEqual(yield* findShrinkage([foods(940), form, price, product]), [
        {
          name: "current_labels_do_not_shrink",
          severity: error,
          found: [{ what: "current labels", before: 100, now: 94, percent_fewer: 6 }]
        }
      ])
    })
  )
  itLive("fails when more than 2 % of the labels, or of the current ones, have lost a nutrient", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* findShrinkage([foods(1000, 20), form, price, product]), [])
      const what = "labels with each nutrient that they had"
      assert.deepStrictEqual(yield* findShrinkage([foods(1000, 30), form, price, product]), [
        { name: "labels_keep_nutrients", severity: error, found: [{ what, before: 1000, now: 970, percent_fewer: 3 }] },
        {
          name: "current_labels_keep_nutrients",
          severity: error,
          found: [{ what: `current ${what}`, before: 100, now: 97, percent_fewer: 3 }]
        }
      ])
    })
  )
  itLive("fails when a form has more than 5 % fewer rows than its newest release", () =>
    Effect.gen(function* () {
      const loaded = (day: string, rows: number) =>
        findShrinkage([food, forms(["before", "2026-04-30", 20_000], ["now", day, rows]), price, product])
      assert.deepStrictEqual(yield* loaded("2026-10-29", 19_000), [])
      assert.deepStrictEqual(yield* loaded("2025-12-18", 5000), []) // older
      assert.deepStrictEqual(yield* loaded("2026-10-29", 18_000), [
        {
          name: "forms_do_not_shrink",
          severity: error,
          found: [{ what: "gov-fdc/csv", before: 20_000, now: 18_000, percent_fewer: 10 }]
        }
      ])
    })
  )
  itLive("compares all files of a folder if only some of them were read again", () =>
    Effect.gen(function* () {
      const files = [["before", "branded_food.csv", 3000] as const, ["before", "food_nutrient.csv", 40_000] as const]
      const live = [food, folder(...files), price, product]
      const corrected = (rows: number) =>
        findShrinkage([food, folder(...files, ["now", "branded_food.csv", rows]), price, product], false, live)
      assert.deepStrictEqual(yield* corrected(3000), [])
      assert.deepStrictEqual(yield* corrected(100), [
        {
          name: "forms_do_not_shrink",
          severity: error,
          found: [{ what: "gov-fdc/csv", before: 43_000, now: 40_100, percent_fewer: 6.7 }]
        }
      ])
    })
  )
  itLive("fails when it has more than 5 % fewer points", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* findShrinkage([food, form, points(95), product]), [])
      assert.deepStrictEqual(yield* findShrinkage([food, form, points(90), product]), [
        {
          name: "points_do_not_shrink",
          severity: error,
          found: [{ what: "points", before: 100, now: 90, percent_fewer: 10 }]
        }
      ])
    })
  )
  itLive("fails when more than 5 % of the products vanished without a complete read of their store", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* findShrinkage([food, form, price, products(10, true)]), [])
      assert.deepStrictEqual(yield* findShrinkage([food, form, price, products(90, false)]), [])
      assert.deepStrictEqual(yield* findShrinkage([food, form, price, products(80, false)]), [
        {
          name: "products_do_not_shrink",
          severity: error,
          found: [{ what: "products", before: 200, now: 180, percent_fewer: 10 }]
        }
      ])
    })
  )
  itLive("is only a warning if the operator accepts it", () =>
    Effect.gen(function* () {
      const found = yield* findShrinkage([foods(500), form, points(50), product], true)
      assert.deepStrictEqual(
        found.map(({ name, severity }) => [name, severity]),
        [
          ["current_labels_do_not_shrink", "warning"],
          ["points_do_not_shrink", "warning"]
        ]
      )
    })
  )
})
