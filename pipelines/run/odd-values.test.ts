import { assert, describe, it } from "@effect/vitest"
import { maxTexts, OddValueCounter } from "./odd-values.ts"

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
})
