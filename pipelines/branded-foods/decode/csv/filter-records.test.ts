import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { filterRecords } from "./filter-records.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "larder-filter-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The file has two columns. */
const filterContent = (content: string | Buffer, isLastIgnored = false) => {
  const [file, good, bad] = ["food.csv", "good.csv", "bad.ndjson"].map((name) => path.join(folder, name))
  if (file === undefined || good === undefined || bad === undefined) throw new Error("three names were given")
  for (const leftover of [good, bad]) rmSync(leftover, { force: true })
  writeFileSync(file, content)
  return Effect.map(filterRecords(file, { count: 2, isLastIgnored }, good, bad), ({ records, truncated }) => ({
    records,
    truncated,
    good: readFileSync(good, "utf8"),
    bad: readFileSync(bad, "utf8")
      .trimEnd()
      .split("\n")
      .filter((line) => line !== "")
      .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
  }))
}

const before = '"id","name"\n"1","one"\n'
const after = '"3","three"\n'
const filterBetween = (line: string) => filterContent(before + line + after)

describe("broken records of a CSV file", () => {
  it.effect.each([
    ["too few fields", '"2"\n', "it has 1 instead of 2 fields"],
    ["too many fields", '"2","two","second"\n', "it has 3 instead of 2 fields"],
    ["a comma at the end", '"2","two",\n', "it has 3 instead of 2 fields, because it ends with a comma"],
    ["a quote within quotes", '"2","5" pipe"\n', "text follows the quotes of field 2"],
    ["a quote without quotes", '2,5" pipe\n', "a quote is inside field 2"],
    ["a carriage return without quotes", "2,a\rb\n", "a carriage return is in field 2, which has no quotes"],
    ["quotes that are not closed on their line", '"2","two\n', "text follows the quotes of field 2"]
  ] as const)("are reported with line, reason and text, and the others are kept: %s", ([, line, reason]) =>
    Effect.map(filterBetween(line), ({ bad, good, records }) => {
      assert.deepStrictEqual(bad, [{ line: 3, reason, payload: line.slice(0, -1) }])
      assert.strictEqual(good, before + after)
      assert.strictEqual(records, 2)
    })
  )

  it.effect("are reported if the end of the file truncates them", () =>
    Effect.map(filterContent(`${before}"2","last cut`), ({ bad, good }) => {
      const reason = "the quotes of field 2 are not closed"
      assert.deepStrictEqual(bad, [{ line: 3, reason, payload: '"2","last cut' }])
      assert.strictEqual(good, before)
    })
  )

  it.effect("are reported if they are not valid UTF-8", () =>
    Effect.map(
      filterContent(Buffer.concat([Buffer.from(`${before}"2","`), Buffer.from([0xe9]), Buffer.from(`"\n${after}`)])),
      ({ bad, good }) => {
        assert.deepStrictEqual(bad, [{ line: 3, reason: "it is not valid UTF-8", payload: '"2","\uFFFD"' }])
        assert.strictEqual(good, before + after)
      }
    )
  )

  it.effect("are reported with 100,000 characters if they are longer than 2,000,000 bytes", () =>
    Effect.map(filterBetween(`"2","${"x".repeat(20_000_000)}"\n`), ({ bad, good }) => {
      assert.strictEqual(bad[0]?.line, 3)
      assert.match(String(bad[0]?.reason), /longer than 2000000 bytes/)
      assert.strictEqual(String(bad[0]?.payload).length, 100_000)
      assert.strictEqual(bad.length, 1)
      assert.strictEqual(good, before + after)
    })
  )
})

describe("the truncation of a CSV file", () => {
  it.effect.each([
    ["an open quote", '"2","last cut', "the quotes of field 2 are not closed"],
    ["an open quote before a line break", '"2","last\ncut', "the quotes of field 2 are not closed"],
    ["an open quote before whole records", '"2,2\n3,3\n', "the quotes of field 1 are not closed"],
    ["fewer fields", '"2"', "it has 1 instead of 2 fields"],
    ["fewer fields and a line feed", '"2"\n', "it has 1 instead of 2 fields"],
    ["fewer fields and blank lines", '"2"\n\n', "it has 1 instead of 2 fields"],
    ["a comma", '"2",', "nothing follows its last comma"]
  ] as const)("is reported if the last record ends with %s", ([, end, problem]) =>
    Effect.map(filterContent(before + end), ({ truncated }) =>
      assert.deepStrictEqual(truncated, { record: 3, problem })
    )
  )

  it.effect.each([
    ["has no line break", '"2","two"'],
    ["has no line break, no quotes, and nothing in its last field", "2,"],
    ["follows an incomplete one", '"2"\n"3","three"\n'],
    ["is broken in another way, and ends with a line break", '"2","5" pipe"\n'],
    ["has fewer fields than the header, as all do", undefined]
  ] as const)("is not reported if the last record %s", ([, end]) =>
    Effect.map(filterContent(end === undefined ? '"id","name"\n"1"\n"2"\n' : before + end), ({ truncated }) =>
      assert.isUndefined(truncated)
    )
  )

  it.effect("is not reported if the last record ends with a comma before a column that is not read", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* filterContent(`${before}"2",`, true)).truncated)
      assert.isDefined((yield* filterContent(`${before}"2"`, true)).truncated)
    })
  )

  it.effect("is reported wherever the file is truncated, except after a complete record", () =>
    Effect.gen(function* () {
      // last fields have no doubled quotes: truncation between the two looks like the end of the field
      const records = ['"one, or ""two""","1"', '"a\nb","2"', '"","3"', '"4",""']
      const complete = `"id","name"\n${records.join("\n")}\n`
      const ends = records.map((_, n) => `"id","name"\n${records.slice(0, n + 1).join("\n")}`.length)
      const isComplete = (length: number) => ends.some((end) => length === end || length === end + 1)
      for (let length = '"id","name"\n'.length + 1; length <= complete.length; length++) {
        const { truncated } = yield* filterContent(complete.slice(0, length))
        assert.strictEqual(truncated === undefined, isComplete(length), complete.slice(0, length))
      }
    })
  )
})

describe("good records of a CSV file", () => {
  it.effect("keep line breaks in quotes, and count as one line", () =>
    Effect.map(filterBetween('"2","a\nb"\n"x"\n'), ({ bad, good }) => {
      assert.strictEqual(good, `${before}"2","a\nb"\n${after}`)
      assert.strictEqual(bad[0]?.line, 4)
    })
  )

  it.effect("end with a line feed, even if they had another line end", () =>
    Effect.map(filterContent('\uFEFFid,name\r\n1,one\n2,two\r\n3,"a\r\nb"'), ({ bad, good, records }) => {
      assert.strictEqual(good, 'id,name\n1,one\n2,two\n3,"a\r\nb"\n')
      assert.deepStrictEqual(bad, [])
      assert.strictEqual(records, 3)
    })
  )

  it.effect("have blanks in place of NULs", () =>
    Effect.map(filterBetween('"2","t\0w\0"\n'), ({ bad, good }) => {
      assert.strictEqual(good, `${before}"2","t w "\n${after}`)
      assert.deepStrictEqual(bad, [])
    })
  )

  it.effect("are written without the blank lines between them, and the numbers of these lines are reported", () =>
    Effect.map(filterBetween("\n\r\n"), ({ bad, good }) => {
      assert.deepStrictEqual(bad, [{ line: 3 }, { line: 4 }])
      assert.strictEqual(good, before + after)
    })
  )

  it.effect("are complete even if they span the pieces in which the file is read", () => {
    const rows = Array.from({ length: 120_000 }, (_, row) => `"${row}","${"é\n".repeat(row % 50)}"\n`)
    const broken = rows.flatMap((row, index) => (index % 1000 === 7 ? [row, '"broken"\n'] : [row]))
    return Effect.map(filterContent(`"id","name"\n${broken.join("")}`), ({ bad, good, records }) => {
      assert.isTrue(good === `"id","name"\n${rows.join("")}`)
      assert.strictEqual(records, rows.length)
      assert.deepStrictEqual(
        bad.map(({ line }) => line),
        broken.flatMap((row, index) => (row === '"broken"\n' ? [index + 2] : []))
      )
    })
  })
})
