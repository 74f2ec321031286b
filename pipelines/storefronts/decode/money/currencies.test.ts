import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { findCommonCodes, findDecimals } from "./currencies.ts"

const lines = readFileSync(new URL("currencies.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
const rows = lines.slice(1).map((line) => line.split("\t"))

describe("the table of currencies", () => {
  it("has each code once, in order, with its decimals by ISO 4217 and in practice", () => {
    assert.strictEqual(lines[0], "code\tdecimals\tused_decimals\tsymbols")
    const codes = rows.map(([code = ""]) => code)
    assert.deepStrictEqual(codes, [...new Set(codes)].toSorted())
    for (const [code = "", decimals = "", used = "", symbols, ...others] of rows) {
      assert.match(code, /^[A-Z]{3}$/)
      assert.include(["0", "2", "3", "4"], decimals, code)
      assert.include(["0", decimals], used, code)
      assert.deepStrictEqual([typeof symbols, others], ["string", []], code)
    }
  })

  it.each([
    ["JPY", 0, 0],
    ["KWD", 3, 3],
    ["IDR", 2, 0],
    ["COP", 2, 0],
    ["HUF", 2, 0],
    ["EUR", 2, 2],
    ["XYZ", 2, 2],
    [null, 2, 2]
  ])("gives %s %i decimals, and %i in practice", (code, decimals, used_decimals) => {
    assert.deepStrictEqual(findDecimals(code), { decimals, used_decimals })
  })
})

describe("the marks of a currency", () => {
  it.each([
    [["usd"], ["USD"]],
    [["$", "CAD"], ["CAD"]],
    [["CAD$"], ["CAD"]],
    [["$cad"], ["CAD"]],
    [["KR"], ["DKK", "ISK", "NOK", "SEK"]],
    [["€", "USD"], []],
    [["pieces"], []],
    [[""], []]
  ])("%j mean %j", (marks, codes) => {
    assert.deepStrictEqual([...findCommonCodes(marks)].toSorted(), codes)
  })
})
