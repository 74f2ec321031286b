import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect } from "effect"
import { DuckDb } from "../duckdb.ts"
import { brandedFood } from "./branded_food/data-set.ts"
import { define } from "./dictionary.ts"

const cases = [
  [67, 15, 10], // 10.05 is a tie, and rounds to the even digit
  [33.35, 30, 10],
  [1.125, 100, 1.12],
  [1.135, 100, 1.14],
  [83.3, 6, 5],
  [99.95, 100, 100],
  [0.001, 15, 0.00015],
  [26_000, 473, 123_000],
  [86_957, 1_000, 870_000],
  [999_999, 999_999, 10_000_000_000],
  [-1.135, 100, -1.14],
  [0, 30, 0],
  [12, 0, 0],
  [0, null, null],
  [null, 0, null]
] as const

describe("branded_food.per_serving", () => {
  itLive("multiplies exactly and rounds half to even to three significant digits", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const db = yield* DuckDb.memory
        yield* define(db, brandedFood)
        for (const [amount, serving, expected] of cases) {
          const [row] = yield* db.rows(
            `select branded_food.per_serving(${amount}::decimal(18, 6), ${serving}::decimal(18, 6)) as result`
          )
          assert.deepStrictEqual([amount, serving, row?.result], [amount, serving, expected])
        }
      })
    )
  )
})
