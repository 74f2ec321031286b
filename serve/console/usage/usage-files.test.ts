import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { listDays, type Period } from "../web/period.ts"
import { readByDays } from "./usage-files.ts"

const year = { from: "2027-09-01", to: "2028-08-31" }

type CountRows = (day: string) => number

const makeRows = (period: Period, countRows: CountRows) =>
  listDays(period).flatMap((day) => Array.from({ length: countRows(day) }, (_, row) => `${day} ${row}`))

/** The days of each read with its number of rows, and the rows of the file. */
const read = (period: Period, countRows: CountRows) =>
  Effect.gen(function* () {
    const reads: Array<readonly [Period, number]> = []
    const rows = readByDays(period, (days) =>
      Effect.sync(() => {
        const found = makeRows(days, countRows)
        reads.push([days, found.length])
        return found
      })
    )
    return { reads, rows: yield* Stream.runCollect(rows) }
  })

describe("a file of a period", () => {
  it.effect("has every row once, in order, for any distribution of rows over days", () =>
    Effect.gen(function* () {
      for (const countRows of [() => 0, () => 1, () => 700, (day: string) => (day > "2028-02" ? 900 : 0)]) {
        assert.deepStrictEqual((yield* read(year, countRows)).rows, makeRows(year, countRows))
      }
    })
  )

  it.effect("is read in few steps if days have few rows, and in small steps if they have many", () =>
    Effect.gen(function* () {
      const few = yield* read(year, () => 1)
      assert.isAtMost(few.reads.length, 30)
      const many = yield* read(year, () => 700)
      assert.isAtMost(Math.max(...many.reads.map(([, found]) => found)), 2_000)
      const increasing = yield* read(year, (day) => (day > "2028-02" ? 5_000 : 0))
      assert.deepStrictEqual(increasing.reads.at(-1)?.[0], { from: year.to, to: year.to })
    })
  )

  it.effect("ends on 9999-12-31, the last day of the calendar", () =>
    Effect.gen(function* () {
      const last = { from: "9999-12-20", to: "9999-12-31" }
      const reads: Array<Period> = []
      const rows = readByDays(last, (days) => Effect.sync(() => [reads.push(days)]))
      assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(rows, 9)), [1, 2, 3, 4])
      assert.deepStrictEqual(reads.flatMap(listDays), listDays(last))
    })
  )

  it.effect("reads a period of one day in one step", () =>
    Effect.gen(function* () {
      const day = { from: year.from, to: year.from }
      assert.deepStrictEqual((yield* read(day, () => 2)).reads, [[day, 2]])
    })
  )
})
