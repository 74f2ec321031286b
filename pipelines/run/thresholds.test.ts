import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { DuckDb } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { thresholds } from "./thresholds.ts"

/** At the limit itself, just below it and just above it. */
const cases = [
  ["emptyFeeds", "at least 3 feeds", [[2], [3], [4]], [false, true, true]],
  ["lostDays", "more than 5 days", [[4], [5], [6]], [false, false, true]],
  [
    "rejectedShare",
    "more than 2 %",
    [
      [1, 100],
      [2, 100],
      [3, 100]
    ],
    [false, false, true]
  ],
  [
    "lostRows",
    "at least 20 %",
    [
      [19, 100],
      [20, 100],
      [21, 100]
    ],
    [false, true, true]
  ],
  [
    "untrustedFeeds",
    "more than 1 in 3",
    [
      [12, 39],
      [13, 39],
      [14, 39]
    ],
    [false, false, true]
  ]
] as const

const Met = Schema.Struct({ met: Schema.Boolean })

describe("a threshold", () => {
  for (const [name, limit, found, met] of cases) {
    itLive(`is met by what its words say, in code and in SQL: ${limit}`, () =>
      Effect.gen(function* () {
        const db = yield* DuckDb.memory
        const threshold = thresholds[name]
        const test = threshold.isMetBy as (...numbers: ReadonlyArray<number>) => boolean
        const sql = threshold.sql as (...terms: ReadonlyArray<string>) => string
        assert.strictEqual(threshold.limit, limit)
        assert.deepStrictEqual(
          found.map((numbers) => test(...numbers)),
          [...met]
        )
        const selected = found.map((numbers) => `select ${sql(...numbers.map(String))} as met`)
        const rows = yield* db.all(Met, selected.join(" union all "))
        assert.deepStrictEqual(
          rows.map((row) => row.met),
          [...met]
        )
      })
    )
  }
})
