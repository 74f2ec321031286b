/** The real slice of a CSV release: every row is counted, with and without the other files of a release. */
import { appendFileSync, cpSync, readFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Ended } from "../support/programs.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { derivedOf, ingest, labelsOf, recordsOf, rejectsOf } from "./branded-foods.ts"
import { parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { parseCsv } from "./plain-csv.ts"
import { copySlice, sample } from "./real-slice.ts"

const recordsIn = (name: string) => parseCsv(readFileSync(sample(`slice-2023-10/${name}`), "utf8"))

const testSlice = () => {
  const folder = temporaryFolder()
  const [home, otherHome] = [path.join(folder, "home"), path.join(folder, "other")]
  const ends: { plain?: Ended; appended?: Ended } = {}
  beforeAll(async () => {
    ends.plain = await ingest(home, copySlice(path.join(folder, "slice")))

    const appended = copySlice(path.join(folder, "appended"))
    const [, ...others] = readFileSync(sample("slice-2023-10/food_sample_100.csv"), "utf8").split("\n")
    appendFileSync(path.join(appended, "food.csv"), `\n${others.join("\n")}`) // the last line has no line break
    cpSync(sample("dictionary-2022-10"), appended, { recursive: true, filter: (file) => !file.endsWith("PROVENANCE") })
    ends.appended = await ingest(otherHome, appended)
  })
  afterAll(() => removeFolder(folder))

  const runOf = (end: Ended | undefined) => {
    expect([end?.code, end?.stderr]).toMatchObject([4, expect.any(String)]) // two thirds of its labels have no name
    return parseRunRecord(end ?? { stdout: "{}" })
  }

  it("is read to the last row, and each row is loaded, of another kind, or rejected with a reason", async () => {
    const branded = new Set(recordsIn("branded_food.csv").map(({ fdc_id }) => fdc_id))
    const foods = recordsIn("food_other.csv")
    const amounts = recordsIn("food_nutrient.csv")
    const named = new Set(foods.filter(({ data_type }) => data_type === "branded_food").map(({ fdc_id }) => fdc_id))
    const others = new Set(foods.map(({ fdc_id }) => fdc_id).filter((fdc_id) => !named.has(fdc_id)))
    const both = [...branded].filter((fdc_id) => named.has(fdc_id))
    expect([branded.size, foods.length, amounts.length, named.size, both.length]).toEqual([
      9541, 4999, 69_228, 4827, 23
    ])

    const unnamed = branded.size - both.length
    const orphans = amounts.filter(({ fdc_id = "" }) => !named.has(fdc_id) && !others.has(fdc_id)).length
    const silentAmounts = amounts.filter(({ fdc_id = "" }) => others.has(fdc_id)).length
    const rows_read = branded.size + foods.length + amounts.length
    const rows_rejected = unnamed + orphans
    const rows_unchanged = others.size + silentAmounts
    expect(runOf(ends.plain)).toMatchObject({
      outcome: "partial",
      rows_read,
      rows_rejected,
      rows_unchanged,
      rows_loaded: rows_read - rows_rejected - rows_unchanged
    })
    expect(runOf(ends.plain).left_out).toMatchObject([
      { kind: "partial", reason: expect.stringMatching(/^9,518 of 14,345 labels were rejected \(66\.4 %\)/) }
    ])
    const rejects = await rejectsOf(home)
    expect(rejects.map(({ feed, rows }) => [feed, rows])).toEqual([
      ["gov-fdc/csv/branded_food.csv", unnamed],
      ["gov-fdc/csv/food_nutrient.csv", orphans]
    ])
    expect(rejects[0]?.why).toMatch(/food\.csv has no readable row with this fdc_id/)
    expect(rejects[1]?.why).toBe("food.csv has no readable row with the fdc_id N")
  })

  it("keeps each rejected row with its line", async () => {
    const lines = readFileSync(sample("slice-2023-10/branded_food.csv"), "utf8").split("\n") // none has a line break
    const [rows = []] = await query(
      home,
      `select position::integer as position, payload->>'fdc_id' as fdc_id from ingest.reject
       where feed like '%branded_food.csv' order by position`
    )
    const ids = rows.map(({ position }) => lines[Number(position) - 1]?.split(",", 1)[0])
    expect(rows.map(({ fdc_id }) => fdc_id)).toEqual(ids)
  })

  it("has 4,827 labels with all their amounts; 23 of them have a row in both files", async () => {
    const [counts, both] = await query(
      home,
      `select count(*)::integer as labels, sum(len(nutrients))::integer as amounts, sum(source_rows)::integer as rows,
         count(*) filter (where list_contains(quality_flags, 'label_row_missing'))::integer as names_only
       from branded_food.food`,
      "select fdc_id from branded_food.food where not list_contains(quality_flags, 'label_row_missing') order by fdc_id"
    )
    const amounts = recordsIn("food_nutrient.csv")
    const named = new Set(
      recordsIn("food_other.csv").flatMap(({ data_type, fdc_id }) => (data_type === "branded_food" ? [fdc_id] : []))
    )
    const ofLabels = amounts.filter(({ fdc_id }) => named.has(fdc_id)).length
    expect(counts).toEqual([{ labels: 4827, amounts: ofLabels, rows: 4827 + 23 + ofLabels, names_only: 4804 }])
    const branded = new Set(recordsIn("branded_food.csv").map(({ fdc_id }) => fdc_id))
    const expected = [...named].filter((fdc_id) => branded.has(fdc_id ?? "")).map(Number)
    expect(both?.map(({ fdc_id }) => fdc_id)).toEqual(expected.toSorted((a, b) => a - b))
  })

  it("has the expected record of fdc 1059799, field by field", async () => {
    expect(await recordsOf(home, [1059799])).toMatchObject([
      {
        description: "SPINACH BITES IN A CRISP CARROT & VEGETABLE CRUMB, SPINACH",
        brand_owner: "GS1 Ireland",
        brand_name: null,
        category: "Frozen Appetizers & Hors D'oeuvres",
        gpc_class_code: null,
        upc: "810012620147",
        serving_size: 75,
        serving_size_unit_normalized: "g",
        household_serving_text: "3 BITES",
        market_country_normalized: "US",
        trade_channels: [],
        // amounts per 100 g times 0.75, to three digits
        nutrition: {
          calories: 200,
          fat: 10, // 9.9975
          saturated_fat: 0.998, // 0.9975
          trans_fat: 0,
          cholesterol: 0,
          sodium: 270,
          carbohydrates: 23, // 23.0025
          fiber: 3.98, // 3.975
          sugars: 9,
          protein: 3,
          calcium: 39.8, // 39.75
          iron: 1.7, // 1.7025
          potassium: 170, // 170.25
          vitamin_d: 0
        },
        data_source: "LI",
        published_on: "2020-07-30",
        available_on: "2020-07-30",
        modified_on: "2020-06-19",
        discontinued_on: null
      }
    ])
  })

  it("leaves foods of other kinds and their amounts unchanged", async () => {
    const plain = runOf(ends.plain)
    // these hundred foods own all amounts that were orphans
    const sampled = new Set(recordsIn("food_sample_100.csv").map(({ fdc_id }) => fdc_id))
    const amounts = recordsIn("food_nutrient.csv").filter(({ fdc_id }) => sampled.has(fdc_id)).length
    expect(runOf(ends.appended)).toMatchObject({
      rows_read: Number(plain.rows_read) + sampled.size,
      rows_unchanged: Number(plain.rows_unchanged) + sampled.size + amounts,
      rows_loaded: plain.rows_loaded,
      rows_rejected: Number(plain.rows_rejected) - amounts
    })
    expect((await rejectsOf(otherHome)).map(({ feed }) => feed)).toEqual(["gov-fdc/csv/branded_food.csv"])
  })

  it("has the same labels when the release also has dictionaries and other foods, and keeps every known nutrient", async () => {
    expect(await labelsOf(otherHome)).toEqual(await labelsOf(home))
    expect(await derivedOf(otherHome)).toEqual(await derivedOf(home))
    const dictionary = "select nutrient_id, number, name, unit from branded_food.nutrient order by nutrient_id"
    const [[before = []], [after = []]] = [await query(home, dictionary), await query(otherHome, dictionary)]
    expect(after).toEqual(expect.arrayContaining([...before]))
  })
}

describeSamples("fdc", "the real slice of a CSV release", testSlice)
