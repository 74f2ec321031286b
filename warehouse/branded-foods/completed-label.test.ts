import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DuckDb } from "../duckdb.ts"
import { mergeLabelColumn } from "./completed-label.ts"

const ddl = readFileSync(new URL("../tables/branded_food/food.sql", import.meta.url), "utf8")

/** Columns of a label as SQL. */
type Columns = Readonly<Record<string, string>>
const defaults: Columns = {
  fdc_id: "1",
  description: "'OATS'",
  serving_size: "50",
  serving_size_unit: "'g'",
  quality_flags: "[]",
  source_rows: "1",
  form: "'csv'",
  release_on: "date '2026-01-01'",
  fetched_at: "timestamp '2026-01-01'",
  run_id: "'run'",
  raw_sha256: "'payload'"
}
const later = { release_on: "date '2026-02-01'" }
const rejected = { quality_flags: "['part_rejected']" }

const amounts = (stated: Readonly<Record<number, string>>) =>
  `[${Object.entries(stated)
    .map(([id, amount]) => `{'nutrient_id': ${id}, 'amount': ${amount}, 'derivation_id': null}`)
    .join(", ")}]`
const percents = (stated: Readonly<Record<number, string>>) =>
  `[${Object.entries(stated)
    .map(([id, percent]) => `{'nutrient_id': ${id}, 'percent': ${percent}}`)
    .join(", ")}]`
const attributes = (...names: ReadonlyArray<string>) =>
  `[${names.map((name) => `{'name': '${name}', 'value': '${name}'}`).join(", ")}]`

const Value = Schema.Struct({ value: Schema.NullOr(Schema.String) })

/** The merged value of a column if `s` is added to the existing `l`. */
const merge = Effect.fnUntraced(function* (s: Columns, l: Columns, column: string) {
  const db = yield* DuckDb.memory
  yield* db.run("create schema branded_food")
  for (const [name, columns] of Object.entries({ s, l })) {
    const row = { ...defaults, ...columns }
    yield* db.run(ddl)
    yield* db.run(`
      insert into branded_food.food (${Object.keys(row).join(", ")}) values (${Object.values(row).join(", ")});
      alter table branded_food.food rename to ${name};`)
  }
  const merged = mergeLabelColumn(column) ?? "null"
  const [row] = yield* db.all(Value, `select (${merged})::varchar as value from branded_food.s s, branded_food.l l`)
  return row?.value?.replaceAll(/'(nutrient_id|amount|percent|name|value|derivation_id)': /g, "") ?? null
}, Effect.scoped)

/** A label with a rejected part, and the same label of another release, are merged in both orders. */
const mergeBoth = Effect.fnUntraced(function* (torn: Columns, whole: Columns, column: string) {
  const merged = yield* merge(torn, whole, column)
  assert.strictEqual(yield* merge(whole, torn, column), merged)
  return merged
})

describe("a later label with a rejected part", () => {
  it.live.each<readonly [kept: string, column: string, later: string, earlier: string, merged: string]>([
    [
      "amounts that it lacks, sorted by nutrient",
      "nutrients",
      amounts({ 1004: "6", 1093: "1" }),
      amounts({ 1003: "10", 1004: "5", 1008: "333" }),
      "[{1003, 10.000000, NULL}, {1004, 6.000000, NULL}, {1008, 333.000000, NULL}, {1093, 1.000000, NULL}]"
    ],
    [
      "the amount of a nutrient that it has without an amount",
      "nutrients",
      amounts({ 1003: "10", 1008: "null" }),
      amounts({ 1003: "null", 1008: "333" }),
      "[{1003, 10.000000, NULL}, {1008, 333.000000, NULL}]"
    ],
    [
      "the daily values of these amounts",
      "daily_values",
      percents({ 1087: "20" }),
      percents({ 1087: "10", 1089: "30" }),
      "[{1087, 20.00}, {1089, 30.00}]"
    ],
    ["attributes that it lacks", "attributes", attributes("A", "B"), attributes("B", "C"), "[{A, A}, {B, B}, {C, C}]"],
    ["own amounts that it lacks", "label_fat", "null", "3", "3.000000"]
  ])("keeps %s", ([_, column, ofLater, ofEarlier, expected]) =>
    Effect.gen(function* () {
      const form = column === "label_fat" ? { form: "'json'" } : {}
      const nutrients = column === "daily_values" ? { nutrients: amounts({ 1087: "5" }) } : {}
      const merged = yield* mergeBoth(
        { ...form, ...later, ...nutrients, ...rejected, [column]: ofLater },
        { ...form, [column]: ofEarlier },
        column
      )
      assert.strictEqual(merged, expected)
    })
  )

  it.live("keeps no own amount of another serving", () =>
    Effect.gen(function* () {
      const json = { form: "'json'" }
      const torn = { ...json, ...later, ...rejected, serving_size: "60" }
      assert.isNull(yield* mergeBoth(torn, { ...json, label_fat: "3" }, "label_fat"))
    })
  )

  it.live("has its own flags, and those of the amounts that it keeps", () =>
    Effect.gen(function* () {
      const whole = { quality_flags: "['energy_impossible', 'gtin_missing']", nutrients: amounts({ 1008: "999" }) }
      assert.strictEqual(
        yield* mergeBoth({ ...later, ...rejected, nutrients: "[]" }, whole, "quality_flags"),
        "[part_rejected, energy_impossible]"
      )
    })
  )

  it.live("loses the flag if the same form is read again without the fault", () =>
    Effect.gen(function* () {
      const whole = { nutrients: amounts({ 1003: "11" }) }
      const torn = { ...rejected, nutrients: amounts({ 1004: "5" }) }
      assert.strictEqual(yield* merge(whole, torn, "quality_flags"), "[]")
      assert.strictEqual(yield* merge(whole, torn, "nutrients"), "[{1003, 11.000000, NULL}]")
      assert.strictEqual(yield* merge(torn, whole, "nutrients"), "[{1003, 11.000000, NULL}, {1004, 5.000000, NULL}]")
    })
  )
})

describe("a label of the JSON form with a rejected part", () => {
  it.live("keeps all daily values of the CSV form, which alone can state them", () =>
    Effect.gen(function* () {
      const json = { form: "'json'", ...rejected, nutrients: amounts({ 1004: "5" }) }
      const csv = { nutrients: amounts({ 1003: "1", 1004: "5" }), daily_values: percents({ 1003: "10", 1004: "20" }) }
      assert.strictEqual(yield* mergeBoth(json, csv, "daily_values"), "[{1003, 10.00}, {1004, 20.00}]")
    })
  )
})

describe("a label without a readable row in branded_food.csv", () => {
  it.live("keeps the values and flags of the earlier one, but not that its row is missing", () =>
    Effect.gen(function* () {
      const torn = { ...later, quality_flags: "['label_row_missing', 'part_rejected']", serving_size: "null" }
      const whole = { quality_flags: "['country_unknown']", brand_owner: "'ACME'" }
      assert.strictEqual(yield* mergeBoth(torn, whole, "brand_owner"), "ACME")
      assert.strictEqual(yield* mergeBoth(torn, whole, "quality_flags"), "[part_rejected, country_unknown]")
    })
  )
})
