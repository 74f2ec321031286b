import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { countRecords } from "./count-records.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "larder-count-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const countContent = (content: string, columns: number) => {
  const file = path.join(folder, "food.csv")
  writeFileSync(file, content)
  return countRecords("food", file, columns)
}

describe("the record count of a CSV file", () => {
  it.effect.each([
    ["ends with a line feed", '"a","b"\n"1","2"\n', 2, 2],
    ["ends without a line break", '"a","b"\n"1","2"', 2, 2],
    ["has carriage returns before its line feeds", 'a,b\r\n"1",""\r\n', 2, 2],
    ["has a line break in quotes", '"a","b"\n"1","x\ny"\n"2","z"\n', 2, 3],
    ["has commas in quotes", '"a","b"\n"1","x,y"\n"2","z,"\n', 2, 3],
    ["has doubled quotes", '"a"\n"5"" pipe"\n""""\n', 1, 3],
    ["has a blank line", '"a"\n\n"1"\n', 1, 3],
    ["begins with a byte order mark", '\uFEFF"a"\n"1"\n', 1, 2],
    ["is empty", "", 2, 0]
  ] as const)("is right for a file that %s", ([, content, columns, expected]) =>
    Effect.map(countContent(content, columns), (records) => assert.strictEqual(records, expected))
  )

  it.effect.each([
    ["quotes that are not closed", '"a","b"\n"1","2'],
    ["nothing after its last comma", '"a","b"\n"1",'],
    ["text after quotes", '"a","b"\n"5" pipe",""\n'],
    ["a quote inside of an unquoted field", 'a,b\n5" pipe,\n'],
    ["a carriage return without a line feed", "a,b\n1,\r2\n"],
    ["an empty field too many", '"a","b"\n"1","2"\n"3","4",""\n'],
    ["nothing after a comma too many", "a,b\n1,2,\n"],
    ["a field too many in its last record", "a,b\n1,2,3"],
    ["a field too few", "a,b\n1\n"],
    ["a NUL in quotes", '"a","b"\n"1","x\0"\n'],
    ["a NUL at the start of a field", "a,b\n1,\0x\n"],
    ["a NUL without quotes", "a,b\n1,x\0\n"]
  ] as const)("is undefined for a file of two columns with %s", ([, content]) =>
    Effect.map(countContent(content, 2), (records) => assert.isUndefined(records))
  )

  /** A megabyte is counted in two halves, and either may begin or end inside a record. */
  it.effect.each([
    ["lines of all lengths", Array.from({ length: 60_000 }, (_, row) => `"${row}","${"x".repeat(row % 97)}"\n`)],
    [
      "line breaks in quotes",
      Array.from({ length: 200_000 }, (_, row) => `"${row}","a\n\n${"b\n".repeat(row % 13)}"\n`)
    ],
    ["one field over several pieces", [`"1","${"\n".repeat(5_000_001)}"\n`, '"2",""\n']]
  ] as const)("is right for records that are read in many pieces: %s", ([, rows]) =>
    Effect.map(countContent(rows.join(""), 2), (records) => assert.strictEqual(records, rows.length))
  )
})
