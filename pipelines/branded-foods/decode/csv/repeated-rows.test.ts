import { assert, describe, it } from "@effect/vitest"
import { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { createRejects, withLines } from "./line-numbers.ts"
import { dropRepeatedRows } from "./repeated-rows.ts"

const Line = Schema.Struct({ line: Schema.Int, amount: Schema.NullOr(Schema.String) })

/** Rows of id, fdc_id, nutrient and amount; line 2 is the first. */
const dropIn = (
  ...rows: ReadonlyArray<readonly [id: number | null, fdcId: number, nutrient: number, amount: number | null]>
) =>
  Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* db.run(`
      attach ':memory:' as release;
      create table release.food_nutrient (
        fdc_id integer, nutrient_id integer, amount decimal(18, 6), derivation_id smallint,
        percent_daily_value decimal(9, 2), added bigint
      )`)
    yield* createRejects(db, "food_nutrient")
    for (const [id, fdcId, nutrient, amount] of rows) {
      yield* db.run(`insert into release.food_nutrient values (${fdcId}, ${nutrient}, ${amount}, 70, null, ${id})`)
    }
    const dropped = yield* dropRepeatedRows(db, "food_nutrient")
    const lines = `
      select line::integer as line, round(amount)::integer::varchar as amount
      from ${withLines("food_nutrient", "select rowid as staged_row, amount from release.food_nutrient")}
      order by staged_row`
    return { dropped, rows: (yield* db.all(Line, lines)).map(({ amount, line }) => `${line}: ${amount}`) }
  }).pipe(Effect.scoped)

describe("a row that a file has twice", () => {
  it.effect("is read once, and the others keep their line numbers", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* dropIn([11, 1, 1003, 5], [12, 1, 1004, 6], [11, 1, 1003, 5], [13, 2, 1003, 7]), {
        dropped: 1,
        rows: ["2: 5", "3: 6", "5: 7"]
      })
    })
  )

  it.effect("is read once if it has no id, or an id far from the others", () =>
    Effect.gen(function* () {
      const withoutId = yield* dropIn([null, 1, 1003, 5], [null, 1, 1003, 5], [null, 1, 1003, null], [7, 1, 1003, 5])
      assert.deepStrictEqual(withoutId, { dropped: 1, rows: ["2: 5", "4: null", "5: 5"] })
      const far = [9_007_199_254_740_000, 2, 1003, 7] as const
      assert.deepStrictEqual(yield* dropIn([-4, 1, 1003, 5], far, far), { dropped: 1, rows: ["2: 5", "3: 7"] })
    })
  )

  it.effect("is found between foods that ascend, and next to an equal one", () =>
    Effect.gen(function* () {
      const rows = [
        [20, 1, 1003, 5],
        [11, 2, 1003, 5],
        [11, 2, 1003, 5],
        [12, 3, 1003, 7]
      ] as const
      assert.deepStrictEqual(yield* dropIn(...rows), { dropped: 1, rows: ["2: 5", "3: 5", "5: 7"] })
      assert.strictEqual((yield* dropIn(...rows.toSpliced(2, 1))).dropped, 0)
      assert.strictEqual((yield* dropIn([20, 2, 1003, 5], [11, 1, 1003, 5], [12, 1, 1003, 5])).dropped, 0)
    })
  )

  it.effect("is not one of two rows with one id and different values, nor one of two amounts", () =>
    Effect.gen(function* () {
      const { dropped } = yield* dropIn([11, 1, 1003, 5], [11, 1, 1003, 6], [12, 1, 1004, 5], [13, 1, 1004, 5])
      assert.strictEqual(dropped, 0)
    })
  )

  it.effect("is in no file without rows", () => Effect.map(dropIn(), ({ dropped }) => assert.strictEqual(dropped, 0)))
})
