/** Releases that state nutrients in other units than usual, or by their numbers in place of their ids. */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { expect, it } from "vitest"
import { zipOf } from "../support/pipelines/handmade-zips.ts"
import {
  amountLine,
  brandedLine,
  csvFiles,
  foodLine,
  jsonRelease,
  line,
  recordOf
} from "../support/pipelines/small-releases.ts"
import { recordsOf } from "./branded-foods.ts"
import { makeTestFolder, query } from "./ingesting.ts"
import { foodsIn, load } from "./small-releases.ts"

type Nutrient = readonly [id: number, number: string, name: string, unit: string]
const nutrients: ReadonlyArray<Nutrient> = [
  [1003, "203", "Protein", "G"],
  [1008, "208", "Energy", "KCAL"],
  [1093, "307", "Sodium, Na", "MG"],
  [1062, "268", "Energy", "kJ"],
  [1063, "269.3", "Sugars, Total", "G"]
]

type Amounts = ReadonlyArray<readonly [nutrient: number | string, amount: string]>

/** Loads a CSV release in which each label has these amounts. */
const loadCsv = async (amounts: ReadonlyArray<Amounts>, stated: ReadonlyArray<Nutrient> = nutrients) => {
  const home = makeTestFolder()
  const ids = amounts.map((_, index) => index + 1)
  const rows = amounts.flatMap((label, index) =>
    label.map(([nutrient, amount]) => [index + 1, nutrient, amount] as const)
  )
  const dictionary = [line("id", "name", "unit_name", "nutrient_nbr", "rank")]
  for (const [id, number, name, unit] of stated) dictionary.push(line(id, name, unit, number, "280.0"))
  const files = csvFiles({
    "food.csv": ids.map((id) => foodLine(id)).join(""),
    "branded_food.csv": ids.map((id) => brandedLine(id)).join(""),
    "food_nutrient.csv": rows.map(([id, nutrient, amount], row) => amountLine(row, id, nutrient, amount)).join("")
  })
  const file = path.join(home, "FoodData_Central_branded_food_csv_2026-01-01.zip")
  writeFileSync(file, zipOf(...files, { path: "nutrient.csv", content: Buffer.from(dictionary.join("")) }))
  return { home, ...(await load(home, file)) }
}

const loadJson = async (
  ...labels: ReadonlyArray<ReadonlyArray<readonly [id: number, amount: number, unit?: string]>>
) => {
  const home = makeTestFolder()
  const file = path.join(home, "FoodData_Central_branded_food_json_2026-01-01.json")
  const foodNutrients = (label: (typeof labels)[number]) =>
    label.map(([id, amount, unitName], index) => ({
      id: index,
      nutrient: { id, number: String(id), unitName },
      amount
    }))
  writeFileSync(
    file,
    jsonRelease(labels.map((label, index) => recordOf(index + 1, { foodNutrients: foodNutrients(label) })))
  )
  return { home, ...(await load(home, file)) }
}

const nutritionOf = async (home: string) => {
  const records = await recordsOf(home, await foodsIn(home))
  return records.map((record) => record?.nutrition)
}
const flagsOf = async (home: string) => {
  const [rows = []] = await query(
    home,
    "select flag from branded_food.quality_flag where flag <> 'gtin_check_digit' order by fdc_id, flag"
  )
  return rows.map(({ flag }) => flag)
}
const oddValuesOf = async (home: string) => {
  const [rows] = await query(home, "select field, said, rows::integer as rows from ingest.odd_value order by field")
  return rows
}

it("amounts of a CSV release are converted from the unit of its nutrient.csv, and left out if that is impossible", async () => {
  const stated = nutrients.map(
    ([id, number, name]): Nutrient => [id, number, name, { 1008: "kJ", 1093: "G" }[id] ?? "MG"]
  )
  const { home, stderr } = await loadCsv(
    [
      [
        [1008, "1393"],
        [1003, "10000"],
        [1093, "0.1"]
      ],
      [
        [1008, ""],
        [1003, "20000"],
        [1093, "0.0000025"]
      ],
      [[1093, "1200"]]
    ],
    stated
  )
  expect(await nutritionOf(home)).toEqual([
    { protein: 3, sodium: 30 },
    { protein: 6, sodium: 0.00075 },
    { sodium: 360_000 }
  ])
  expect(await flagsOf(home)).toEqual(["nutrient_unit_unusable", "amount_impossible"])
  expect(await oddValuesOf(home)).toEqual([{ field: "nutrient.unit_name", said: "kJ", rows: 1 }])
  expect(stderr).toMatch(/in other units than usual.*"converted":\["1003 in MG, not g","1093 in G, not mg"\]/)
  expect(stderr).toMatch(/"left_out":\["1008 in kJ, not kcal"\]/)
})

it("amounts of a JSON release are converted from the unit that each states, and left out if that is impossible", async () => {
  const { code, home } = await loadJson(
    [
      [1008, 1393, "kJ"],
      [1003, 10_000, "mg"],
      [1093, 0.1, "G"],
      [1062, 1393, "kJ"],
      [1178, 0.0000004, "g"],
      [1114, 2.5, "g"]
    ],
    [
      [1008, 1393, "kJ"],
      [2047, 333, "KCAL"],
      [1003, 10]
    ]
  )
  expect(code).toBe(0)
  expect(await nutritionOf(home)).toEqual([
    { protein: 3, sodium: 30, vitamin_d: 750_000 },
    { calories: 99.9, protein: 3 }
  ])
  const [record] = await recordsOf(home, [1])
  expect(record?.nutrients).toContainEqual(expect.objectContaining({ nutrient_id: 1178, amount: 0.4, unit: "µg" }))
  expect(record?.nutrients).toContainEqual(expect.objectContaining({ nutrient_id: 1062, amount: 1393, unit: "kJ" }))
  expect(record?.nutrients).toContainEqual(expect.objectContaining({ nutrient_id: 1008, amount: null, unit: "kcal" }))
  expect(await flagsOf(home)).toEqual(["nutrient_unit_unusable", "nutrient_unit_unusable"])
  expect(await oddValuesOf(home)).toEqual([{ field: "foodNutrients.nutrient.unitName", said: "kJ", rows: 2 }])
})

it("numbers in place of ids are mapped if all ids of the file are numbers of its nutrient.csv", async () => {
  const { code, home, stderr } = await loadCsv([
    [
      ["208", "333"],
      ["203.0", "10"]
    ],
    [
      ["307", "100"],
      ["269.3", "20"]
    ]
  ])
  expect([code, await nutritionOf(home)]).toEqual([
    0,
    [
      { calories: 99.9, protein: 3 },
      { sodium: 30, sugars: 6 }
    ]
  ])
  expect(stderr).toMatch(/numbers of nutrients are in place of ids/)
})

it.each([
  ["ids and numbers", [1003, 208], nutrients],
  ["numbers that its nutrient.csv lacks", [203, 208], nutrients.slice(1)]
])("a CSV release with %s is left out, and the reason names one", async (_, ids, stated) => {
  const { code, stderr } = await loadCsv([ids.map((id) => [id, "10"] as const)], stated)
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /has numbers of nutrients in place of ids in food_nutrient\.csv, such as 20\d, the number of nutrient 100\d \((Protein|Energy)\)/
  )
})

it("a JSON release with numbers in place of ids is left out, and the reason names one", async () => {
  const { code, stderr } = await loadJson([[208, 333]])
  expect(code).toBe(1)
  expect(stderr).toMatch(/such as 208, the number of nutrient 1008 \(Energy\)/)
})

it("a new nutrient whose id is the number of another one is no number in place of an id", async () => {
  const novelty: Nutrient = [301, "999", "Novelty", "G"]
  const { code, home } = await loadCsv(
    [
      [
        [1003, "10"],
        [301, "5"]
      ]
    ],
    [...nutrients, novelty]
  )
  const [record] = await recordsOf(home, [1])
  expect(code).toBe(0)
  expect(record?.nutrients).toContainEqual(expect.objectContaining({ nutrient_id: 301, name: "Novelty", amount: 5 }))
})

it("a number that several nutrients have is not mapped", async () => {
  const { code, stderr } = await loadCsv([[["203", "10"]]], [...nutrients, [9001, "203", "Other protein", "G"]])
  expect(code).toBe(1)
  expect(stderr).toMatch(/such as 203, the number of nutrient 1003/)
})

it("amounts of a new nutrient are left out, flagged, where one file states several units, and converted in later files", async () => {
  const { home, stderr } = await loadJson(
    [
      [9991, 5, "mg"],
      [1003, 10],
      [9992, 7, "mg"]
    ],
    [[9991, 5, "g"]]
  )
  const amountsOf = async (id: number) => {
    const [record] = await recordsOf(home, [id])
    const nutrients: unknown = record?.nutrients
    return Array.isArray(nutrients) ? nutrients.map(({ amount, nutrient_id }) => [nutrient_id, amount]) : []
  }
  expect(await amountsOf(1)).toEqual([
    [1003, 10],
    [9991, null],
    [9992, 7]
  ])
  expect(await flagsOf(home)).toEqual(["nutrient_unit_unusable", "nutrient_unit_unusable"])
  expect(stderr).toMatch(/new nutrients are stated in several units.*"nutrients":\[9991\]/)
  const file = path.join(home, "FoodData_Central_branded_food_json_2026-02-01.json")
  const foodNutrients = [{ id: 1, nutrient: { id: 9992, unitName: "g" }, amount: 0.009 }]
  writeFileSync(file, jsonRelease([recordOf(3, { foodNutrients })]))
  expect((await load(home, file)).code).toBe(0)
  expect(await amountsOf(3)).toEqual([[9992, 9]])
})
