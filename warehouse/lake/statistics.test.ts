import { assert, describe, it } from "@effect/vitest"
import { formatStatistics } from "./statistics.ts"

const format = (type: string, values: Readonly<Record<string, string>>) =>
  formatStatistics(
    2,
    [{ name: 'a "b"', type }],
    [{ key: '"a ""b"""', value: Object.entries(values).map(([key, value]) => ({ key, value })) }]
  )

describe("the statistics of a file", () => {
  it.each([
    ["BIGINT", "-9007199254740993", "9007199254740993", "-9007199254740993", "9007199254740993"],
    ["DECIMAL(18,6)", "0.100000", "12345678901.123456", "0.100000", "12345678901.123456"],
    ["DOUBLE", "-1.5", "1e+300", "-1.5", "1e+300"],
    ["DOUBLE", "0.0", "-0.0", "-0.0", "0.0"],
    ["DATE", "2026-01-05", "2026-01-06", '"2026-01-05"', '"2026-01-06"'],
    [
      "TIMESTAMP",
      "2026-01-05 10:00:00.123456",
      "2026-01-05 10:00:00.123456",
      '"2026-01-05T10:00:00.123"',
      '"2026-01-05T10:00:00.124"'
    ],
    ["VARCHAR", "apple", "pear", '"apple"', '"pear"']
  ])("have the digits of a %s, and bounds that include every value", (type, min, max, least, greatest) => {
    assert.strictEqual(
      format(type, { min, max, null_count: "1" }),
      `{"numRecords":2,"minValues":{"a \\"b\\"":${least}},"maxValues":{"a \\"b\\"":${greatest}},"nullCount":{"a \\"b\\"":1}}`
    )
  })
  it.each([
    ["a double that is not a number", "DOUBLE", { min: "1", max: "2", has_nan: "true" }],
    ["an infinite double", "DOUBLE", { min: "1", max: "inf" }],
    ["a long text", "VARCHAR", { min: "a", max: "b".repeat(65) }],
    ["a day before our era", "DATE", { min: "0001-01-01 (BC)", max: "2026-01-05" }],
    ["an infinite date", "DATE", { min: "2026-01-05", max: "infinity" }],
    ["a day with a long year", "DATE", { min: "2026-01-05", max: "10000-01-01" }],
    ["a time with a long year", "TIMESTAMP", { min: "2026-01-05 10:00:00", max: "10000-01-01 00:00:00" }],
    [
      "a time that is rounded up to a long year",
      "TIMESTAMP",
      { min: "2026-01-05 10:00:00", max: "9999-12-31 23:59:59.999999" }
    ],
    ["a year that JavaScript does not know", "TIMESTAMP", { min: "2026-01-05 10:00:00", max: "290000-01-01 00:00:00" }],
    ["a column of JSON", "JSON", { min: "{}", max: "{}" }]
  ])("have no bounds for %s", (_, type, values) => {
    assert.strictEqual(format(type, values), '{"numRecords":2,"minValues":{},"maxValues":{},"nullCount":{}}')
  })
})
