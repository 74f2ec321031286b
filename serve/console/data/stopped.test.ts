import { assert, describe, it } from "@effect/vitest"
import { findStopped } from "./stopped.ts"

const aSeries = (name: string, frequency: "daily" | "weekly" | "monthly", newest: string | undefined) => ({
  name,
  frequency,
  newest
})
const findStoppedNames = (series: ReadonlyArray<ReturnType<typeof aSeries>>) =>
  findStopped(series).map(({ name }) => name)

describe("series that have stopped", () => {
  it("finds a series far behind the newest of its frequency, even if the newest is old", () => {
    const barrels = aSeries("barrels", "weekly", "2025-05-31")
    assert.deepStrictEqual(findStoppedNames([barrels, aSeries("butter", "weekly", "2025-09-26")]), ["barrels"])
    assert.deepStrictEqual(findStoppedNames([barrels, aSeries("butter", "weekly", "2025-06-07")]), [])
  })
  it("compares only series of the same frequency, and ignores a series without readings", () => {
    const series = [
      aSeries("close", "daily", "2026-09-29"),
      aSeries("average", "monthly", "2026-08-01"),
      aSeries("Class I of a future month", "monthly", "2026-10-01"),
      aSeries("never", "weekly", undefined)
    ]
    assert.deepStrictEqual(findStoppedNames(series), [])
  })
  it("finds a daily series that ends two weeks before the other", () => {
    const series = [aSeries("whey", "daily", "2026-09-14"), aSeries("butter", "daily", "2026-09-29")]
    assert.deepStrictEqual(findStoppedNames(series), ["whey"])
  })
})
