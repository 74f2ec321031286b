import { assert, describe, it } from "@effect/vitest"
import { stoppedAmong } from "./stopped.ts"

const followed = (name: string, frequency: "daily" | "weekly" | "monthly", newest: string | undefined) => ({
  name,
  frequency,
  newest
})
const namesOf = (all: ReadonlyArray<ReturnType<typeof followed>>) => stoppedAmong(all).map(({ name }) => name)

describe("series that have stopped", () => {
  it("finds a series far behind the newest of its frequency, however old that one is", () => {
    const barrels = followed("barrels", "weekly", "2025-05-31")
    assert.deepStrictEqual(namesOf([barrels, followed("butter", "weekly", "2025-09-26")]), ["barrels"])
    assert.deepStrictEqual(namesOf([barrels, followed("butter", "weekly", "2025-06-07")]), [])
  })
  it("compares only series of one frequency, and ignores one that never had a reading", () => {
    const all = [
      followed("close", "daily", "2026-09-29"),
      followed("average", "monthly", "2026-08-01"),
      followed("Class I, of a month to come", "monthly", "2026-10-01"),
      followed("never", "weekly", undefined)
    ]
    assert.deepStrictEqual(namesOf(all), [])
  })
  it("finds a daily series that ends two weeks before the other", () => {
    const all = [followed("whey", "daily", "2026-09-14"), followed("butter", "daily", "2026-09-29")]
    assert.deepStrictEqual(namesOf(all), ["whey"])
  })
})
