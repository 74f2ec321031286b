import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { DuckDb } from "@larder/warehouse"
import { Effect } from "effect"
import { maxTexts, OddValueCounter, readOddTexts } from "./odd-values.ts"

describe("odd values", () => {
  it("are counted once per kind, field and text", () => {
    const counter = new OddValueCounter()
    for (let row = 0; row < 25_000; row += 1) counter.add("unreadable", "availability", "na skladě")
    counter.add("unreadable", "weight", "na skladě")
    assert.deepStrictEqual(counter.list(), [
      { kind: "unreadable", field: "availability", said: "na skladě", rows: 25_000 },
      { kind: "unreadable", field: "weight", said: "na skladě", rows: 1 }
    ])
  })
  it("are counted together beyond the limit of texts", () => {
    const counter = new OddValueCounter()
    for (let row = 0; row < maxTexts + 50; row += 1) counter.add("unreadable", "weight", `${row} stone`)
    assert.deepStrictEqual(counter.list().at(-1), {
      kind: "unreadable",
      field: "weight",
      said: "(other texts)",
      rows: 50
    })
  })
  it("are shortened without cutting a character in two", () => {
    const counter = new OddValueCounter()
    counter.add("unreadable", "weight", `${"x".repeat(199)}😀`)
    assert.strictEqual(counter.list()[0]?.said, `${"x".repeat(199)}\ufffd`)
  })
  itLive("have the same limits if SQL counts them", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      const list = yield* readOddTexts(
        db,
        "unreadable",
        `from (
          select 'weight' as field, repeat('x', 300) as said, 5 as rows from range(2)
          union all select 'weight', i || ' stone', 1 from range(${maxTexts + 50}) counter(i)
        )`
      )
      assert.lengthOf(list, maxTexts + 1)
      assert.deepStrictEqual(list[0], { kind: "unreadable", field: "weight", said: "x".repeat(200), rows: 10 })
      assert.deepStrictEqual(list.at(-1), { kind: "unreadable", field: "weight", said: "(other texts)", rows: 51 })
    })
  )
})
