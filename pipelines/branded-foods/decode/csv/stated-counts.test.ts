import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findMissingRecords, readStatedCounts } from "./stated-counts.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "larder-stated-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const readContent = (content: string) => {
  const file = path.join(folder, "counts.csv")
  writeFileSync(file, content)
  return readStatedCounts(file)
}

describe("the record counts that a release declares", () => {
  it.effect.each([
    ["as the source writes it", "Table,Number of Records\nfood,10\nbranded_food,9\n"],
    ["in quotes, with other line ends", '"Table","Number of Records"\r\n"food","10"\r\n"branded_food","9"'],
    ["with lines without a count", "food,10\nbranded_food,9\nfood_nutrient,\nfood_portion,many\n,\n\n"],
    ["of a spreadsheet", "\uFEFFTable;Number of Records\r\nfood.csv;10.0\r\nbranded_food.csv;9\r\n"]
  ] as const)("are read from a file %s", ([, content]) =>
    Effect.map(readContent(content), ({ counts, unclear }) => {
      assert.deepStrictEqual(Object.fromEntries(counts), { food: 10, branded_food: 9 })
      assert.deepStrictEqual(unclear, [])
    })
  )

  it.effect.each(['"1,993,975"', "1,993,975", "1.993.975", "1 993 975", "1'993'975", "1\u202F993\u202F975"])(
    "may have separators of thousands: %s",
    (count) =>
      Effect.map(readContent(`Table,Number of Records\nbranded_food,${count}\n`), ({ counts, unclear }) => {
        assert.strictEqual(counts.get("branded_food"), 1_993_975)
        assert.deepStrictEqual(unclear, [])
      })
  )

  it.effect.each([
    ["a line of a file that is read", "food,10\nfood_nutrient,1.9e6\n", "food_nutrient,1.9e6"],
    ["other groups of digits", 'food,10\n"branded_food","19,93,975"\n', '"branded_food","19,93,975"'],
    ["every line", "10 rows in food\n", "no line has the name of a file and a number"]
  ] as const)("are named if they are not understood: %s", ([, content, line]) =>
    Effect.map(readContent(content), ({ unclear }) => assert.deepStrictEqual(unclear, [line]))
  )

  const stated = new Map([
    ["food", 5000],
    ["branded_food", 1000]
  ])
  it("may be 1 % above the records of a file, or below them", () => {
    assert.isUndefined(findMissingRecords(stated, "branded_food", 990))
    assert.isUndefined(findMissingRecords(stated, "branded_food", 2000))
    assert.strictEqual(
      findMissingRecords(stated, "branded_food", 989)?.message,
      "branded_food.csv has 989 records, and all_downloaded_table_record_counts.csv declares 1000: it may have been cut off between two records. Unpack the release again, or load it as it is with --accept-shrinkage."
    )
  })

  it("do not apply to files without a count, and food.csv is compared with the count of branded_food.csv", () => {
    assert.isUndefined(findMissingRecords(stated, "food_nutrient", 0))
    assert.isUndefined(findMissingRecords(stated, "food", 1000))
    assert.include(findMissingRecords(stated, "food", 500)?.message, "food.csv has 500 records, and")
    assert.include(findMissingRecords(stated, "food", 500)?.message, "declares 1000 for branded_food.csv:")
  })
})
