import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readHeader } from "./header.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "larder-header-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const readContent = (content: string | Buffer) => {
  const file = path.join(folder, "food.csv")
  writeFileSync(file, content)
  return readHeader("food", file)
}
const needed = '"fdc_id","description","publication_date"'

describe("the header of a CSV file", () => {
  it.effect.each([
    ["ends with the file", needed],
    ["ends with a line feed", `${needed}\n"1"`],
    ["ends with a carriage return and a line feed", `${needed}\r\n"1"`],
    ["begins after a byte order mark", `\uFEFF${needed}\n`],
    ["is followed by a line of 200,000 characters", `${needed}\n"${"x".repeat(200_000)}`]
  ] as const)("lists the columns of a header that %s", ([, content]) =>
    Effect.map(readContent(content), ({ columns }) =>
      assert.deepStrictEqual(columns, ["fdc_id", "description", "publication_date"])
    )
  )

  it.effect("rejects a header that does not end within 65,536 bytes", () =>
    Effect.map(Effect.flip(readContent(`${needed},"${"x".repeat(65_536)}"\n"1"\n`)), ({ message }) =>
      assert.match(message, /^food\.csv line 1: the header does not end within 65536 bytes/)
    )
  )

  it.effect("rejects a column name that occurs twice, even in a different case", () =>
    Effect.map(Effect.flip(readContent(`${needed},"FDC_ID"\n`)), ({ message }) =>
      assert.match(message, /there are two columns FDC_ID/)
    )
  )

  it.effect.each([
    ["the first of a copy that pandas wrote", `,${needed}`, 0],
    ["after a comma at the end", `${needed},`, 3],
    ["in quotes", `"",${needed}`, 0]
  ] as const)("names a column that has no name: %s", ([, content, unnamed]) =>
    Effect.map(readContent(content), ({ columns, isLastUnnamed, isQuoted, unknown }) => {
      assert.strictEqual(columns[unnamed], `column ${unnamed + 1} without a name`)
      assert.deepStrictEqual(columns.toSpliced(unnamed, 1), ["fdc_id", "description", "publication_date"])
      assert.deepStrictEqual([isLastUnnamed, isQuoted, unknown], [unnamed === 3, true, []])
    })
  )

  it.effect("gives several columns without a name different ones, and finds no quotes where there are none", () =>
    Effect.map(readContent(`,${needed.replaceAll('"', "")},`), ({ columns, isQuoted }) => {
      assert.strictEqual(new Set(columns).size, 5)
      assert.isFalse(isQuoted)
    })
  )

  const evil = "\u001b[31mEVIL\u0007"
  it.effect("escapes control characters of column names in its error messages", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(readContent(`"fdc_id","${evil}"\n`))
      const duplicate = yield* Effect.flip(readContent(`${needed},"${evil}","${evil}"\n`))
      for (const { message } of [missing, duplicate]) {
        assert.include(message, '"\\u001b[31mEVIL\\u0007"')
        assert.notMatch(message, /\p{Cc}/u)
      }
    })
  )

  it.effect("reports unknown columns escaped, and shortened to 200 characters", () =>
    Effect.map(readContent(`${needed},"${evil}","${"y".repeat(60_000)}"\n`), ({ columns, unknown }) => {
      assert.strictEqual(columns[3], evil)
      assert.deepStrictEqual(unknown, ['"\\u001b[31mEVIL\\u0007"', `${"y".repeat(200)}…`])
    })
  )

  it.effect.each([
    ["UTF-16 with a byte order mark", `\uFEFF${needed}\n`, "it is UTF-16, and a release is UTF-8; save it as UTF-8"],
    ["UTF-16 without one", `${needed}\n`, "it is UTF-16, and a release is UTF-8; save it as UTF-8"],
    ["empty", "", "the file is empty: not even a header"]
  ] as const)("reports no line number if the file is %s", ([, content, problem]) =>
    Effect.map(Effect.flip(readContent(Buffer.from(content, "utf16le"))), ({ message }) =>
      assert.strictEqual(message, `food.csv: ${problem}`)
    )
  )
})
