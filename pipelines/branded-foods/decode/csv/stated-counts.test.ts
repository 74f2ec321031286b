import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { missingRecords, readStatedCounts } from "./stated-counts.ts"

let folder = ""
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "larder-stated-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const statedBy = (content: string) => {
  const file = path.join(folder, "counts.csv")
  writeFileSync(file, content)
  return readStatedCounts(file)
}

describe("the numbers of records that a release states", () => {
  it.effect.each([
    ["as the source writes it", "Table,Number of Records\nfood,10\nbranded_food,9\n"],
    ["in quotes, with other line ends", '"Table","Number of Records"\r\n"food","10"\r\n"branded_food","9"'],
    ["with lines that state none", "food,10\nbranded_food,9\nfood_nutrient,many\n,\n\n"]
  ] as const)("are read from a file %s", ([, content]) =>
    Effect.map(statedBy(content), (stated) =>
      assert.deepStrictEqual(Object.fromEntries(stated), { food: 10, branded_food: 9 })
    )
  )

  const stated = new Map([
    ["food", 5000],
    ["branded_food", 1000]
  ])
  it("may be 1 % more than a file holds, and fewer than it holds", () => {
    assert.isUndefined(missingRecords(stated, "branded_food", 990))
    assert.isUndefined(missingRecords(stated, "branded_food", 2000))
    assert.strictEqual(
      missingRecords(stated, "branded_food", 989)?.message,
      "branded_food.csv holds 989 records, and all_downloaded_table_record_counts.csv states 1000: it may have been cut off between two records. Unpack the release again; with --accept-shrinkage it is read as it is."
    )
  })

  it("say nothing of a file that they do not name, and of food.csv only how many labels it has", () => {
    assert.isUndefined(missingRecords(stated, "food_nutrient", 0))
    assert.isUndefined(missingRecords(stated, "food", 1000))
    assert.include(missingRecords(stated, "food", 500)?.message, "food.csv holds 500 records, and")
    assert.include(missingRecords(stated, "food", 500)?.message, "states 1000 for branded_food.csv:")
  })
})
