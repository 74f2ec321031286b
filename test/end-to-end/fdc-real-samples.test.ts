/** The real labels: every row of the real slice is accounted for, and the real bulk records are what they must be. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { brandedFoodId } from "@larder/schemas/branded-food/id.ts"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import type { Ended } from "../programs.ts"
import { repository } from "../repository.ts"
import { derivedOf, ingest, labelsOf, recordsOf, rejectsOf } from "./branded-foods.ts"
import { query, recordOf, removeFolder, temporaryFolder } from "./ingesting.ts"

/** Real samples lie beside the repository where it was made and are not part of it. */
const samples = path.resolve(repository, "../shared/samples/fdc")
const sample = (name: string) => path.join(samples, name)
const sliceFiles = [
  ["branded_food.csv", "branded_food.csv"],
  ["food_other.csv", "food.csv"],
  ["food_nutrient.csv", "food_nutrient.csv"]
] as const

/** The records of a CSV file by its header, read character by character: it shares nothing with the loader. */
const csvRecords = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  const rows: Array<Array<string>> = [[]]
  let field = ""
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === '"' && text[at + 1] === '"') {
      field += '"'
      at++
    } else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === "," || character === "\n")) {
      rows.at(-1)?.push(field)
      field = ""
      if (character === "\n") rows.push([])
    } else field += character
  }
  const [header = [], ...others] = rows
  return others
    .filter((row) => row.length > 0)
    .map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""])))
}
const recordsIn = (name: string) => csvRecords(readFileSync(sample(`slice-2023-10/${name}`), "utf8"))

const sliceInto = (folder: string) => {
  mkdirSync(folder)
  for (const [from, to] of sliceFiles) cpSync(sample(`slice-2023-10/${from}`), path.join(folder, to))
  return folder
}

const theSlice = () => {
  const folder = temporaryFolder()
  const [home, otherHome, namedHome] = ["home", "other", "named"].map((name) => path.join(folder, name)) as [
    string,
    string,
    string
  ]
  const ends: { plain?: Ended; appended?: Ended; named?: Ended } = {}
  beforeAll(async () => {
    ends.plain = await ingest(home, sliceInto(path.join(folder, "slice")))

    const appended = sliceInto(path.join(folder, "appended"))
    const [, ...others] = readFileSync(sample("slice-2023-10/food_sample_100.csv"), "utf8").split("\n")
    appendFileSync(path.join(appended, "food.csv"), `\n${others.join("\n")}`) // the last line has no end
    ends.appended = await ingest(otherHome, appended)

    const named = sliceInto(path.join(folder, "with-dictionaries"))
    cpSync(sample("dictionary-2022-10"), named, { recursive: true, filter: (file) => !file.endsWith("PROVENANCE") })
    ends.named = await ingest(namedHome, named)
  })
  afterAll(() => removeFolder(folder))

  const runOf = (end: Ended | undefined) => {
    expect([end?.code, end?.stderr]).toMatchObject([0, expect.any(String)])
    return recordOf(end ?? { stdout: "{}" })
  }

  it("are read to the last row, and every row is loaded, of another kind, or rejected with its reason", async () => {
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
      outcome: "published",
      rows_read,
      rows_rejected,
      rows_unchanged,
      rows_loaded: rows_read - rows_rejected - rows_unchanged
    })
    const rejects = await rejectsOf(home)
    expect(rejects.map(({ feed, rows }) => [feed, rows])).toEqual([
      ["gov-fdc/csv/branded_food.csv", unnamed],
      ["gov-fdc/csv/food_nutrient.csv", orphans]
    ])
    expect(rejects[0]?.why).toMatch(/food\.csv has no row with this fdc_id/)
    expect(rejects[1]?.why).toBe("food.csv has no row with the fdc_id N")
  })

  it("name the line of each rejected row, and keep the row", async () => {
    const lines = readFileSync(sample("slice-2023-10/branded_food.csv"), "utf8").split("\n") // none has a line break
    const [rows = []] = await query(
      home,
      `select position::integer as position, payload->>'fdc_id' as fdc_id from ingest.reject
       where feed like '%branded_food.csv' order by position`
    )
    const ids = rows.map(({ position }) => lines[Number(position) - 1]?.split(",", 1)[0])
    expect(rows.map(({ fdc_id }) => fdc_id)).toEqual(ids)
  })

  it("become 4,827 labels, each with all its amounts; the 23 with both rows state the rest", async () => {
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

  it("give records, such as that of fdc 1059799", async () => {
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

  it("take no notice of foods of other kinds, nor of their amounts", async () => {
    const plain = runOf(ends.plain)
    // the hundred name the foods of all amounts that were orphans without them
    const of = new Set(recordsIn("food_sample_100.csv").map(({ fdc_id }) => fdc_id))
    const amounts = recordsIn("food_nutrient.csv").filter(({ fdc_id }) => of.has(fdc_id)).length
    expect(runOf(ends.appended)).toMatchObject({
      rows_read: Number(plain.rows_read) + of.size,
      rows_unchanged: Number(plain.rows_unchanged) + of.size + amounts,
      rows_loaded: plain.rows_loaded,
      rows_rejected: Number(plain.rows_rejected) - amounts
    })
    expect((await rejectsOf(otherHome)).map(({ feed }) => feed)).toEqual(["gov-fdc/csv/branded_food.csv"])
    expect(await labelsOf(otherHome)).toEqual(await labelsOf(home))
  })

  it("are the same with the dictionaries beside them, which name what the bundled one does not know", async () => {
    const counts = ({ rows_loaded, rows_read, rows_rejected, rows_unchanged }: ReturnType<typeof recordOf>) => [
      rows_read,
      rows_loaded,
      rows_unchanged,
      rows_rejected
    ]
    expect(counts(runOf(ends.named))).toEqual(counts(runOf(ends.plain)))
    expect(await labelsOf(namedHome)).toEqual(await labelsOf(home))
    expect(await derivedOf(namedHome)).toEqual(await derivedOf(home))
    const dictionary = "select nutrient_id, number, name, unit from branded_food.nutrient order by nutrient_id"
    const [[before = []], [after = []]] = [await query(home, dictionary), await query(namedHome, dictionary)]
    expect(after).toEqual(expect.arrayContaining([...before]))
  })
}

const theBulkRecords = () => {
  const home = temporaryFolder()
  const file = "fdc_extract_3records_bulk_shape.json"
  const ids = [1106457, 1106628, 1106915]
  beforeAll(async () => {
    const end = await ingest(home, sample(file))
    expect([end.code, recordOf(end)]).toMatchObject([
      0,
      { rows_read: 3, rows_loaded: 3, rows_unchanged: 0, rows_rejected: 0 }
    ])
  })
  afterAll(() => removeFolder(home))

  const nutrient = (nutrient_id: number, number: string, name: string, unit: string, amount: number) => ({
    nutrient_id,
    number,
    name,
    unit,
    amount
  })
  const unstated = {
    short_description: null,
    subbrand_name: null,
    gpc_class_code: null,
    package_weight: null,
    preparation_state_code: null,
    trade_channels: [],
    caffeine_statement: null,
    footnote: null,
    discontinued_on: null,
    source: "gov-fdc",
    fetched_at: expect.stringMatching(/Z$/)
  }
  const common = {
    brand_name: null,
    serving_size_unit: "g",
    serving_size_unit_normalized: "g",
    market_country: "United States",
    market_country_normalized: "US",
    data_source: "LI",
    published_on: "2020-11-13"
  }
  const expected = [
    {
      ...unstated,
      ...common,
      id: brandedFoodId(1106457),
      fdc_id: 1106457,
      description: "DUBBLE BUBBLE, BUBBLE GUM",
      brand_owner: "DUBBLE BUBBLE",
      category: "Chewing Gum & Mints",
      upc: "059642932491",
      serving_size: 6,
      household_serving_text: "1 PIECE",
      ingredients:
        "SUGAR, DEXTROSE, CORN SYRUP (GLUCOSE), GUM BASE, HIGH FRUCTOSE CORN SYRUP, ARTIFICIAL FLAVORS, ARTIFICIAL COLOR (FD&C RED 3), CORN STARCH, BHT (TO MAINTAIN FRESHNESS).",
      nutrition: { calories: 20, fat: 0, sodium: 0, carbohydrates: 5, sugars: 5, protein: 0 },
      nutrients: [
        nutrient(1003, "203", "Protein", "g", 0),
        nutrient(1004, "204", "Total lipid (fat)", "g", 0),
        nutrient(1005, "205", "Carbohydrate, by difference", "g", 83.3),
        nutrient(1008, "208", "Energy", "kcal", 333),
        nutrient(1093, "307", "Sodium, Na", "mg", 0),
        nutrient(2000, "269", "Total Sugars", "g", 83.3)
      ],
      attributes: [
        { name: "Nutrient Updated", value: "4" },
        { name: "Nutrient Added", value: "5" }
      ],
      available_on: "2020-04-15",
      modified_on: "2020-04-15"
    },
    {
      ...unstated,
      ...common,
      id: brandedFoodId(1106628),
      fdc_id: 1106628,
      description: "SPRING ROLL SKIN",
      brand_owner: null, // NOT A BRANDED ITEM
      category: "Crusts & Dough",
      upc: "627404030169",
      serving_size: 100,
      household_serving_text: "100 GRM",
      ingredients: "RICE FLOUR, TAPIOCA STARCH, WATER, SALT",
      nutrition: {
        calories: 340,
        fat: 0.22,
        saturated_fat: 0.13,
        cholesterol: 0,
        sodium: 860,
        carbohydrates: 82.5,
        fiber: 0,
        sugars: 0,
        protein: 2.13,
        calcium: 0,
        iron: 0
      },
      nutrients: [
        nutrient(1003, "203", "Protein", "g", 2.13),
        nutrient(1004, "204", "Total lipid (fat)", "g", 0.22),
        nutrient(1005, "205", "Carbohydrate, by difference", "g", 82.5),
        nutrient(1008, "208", "Energy", "kcal", 340),
        nutrient(1079, "291", "Fiber, total dietary", "g", 0),
        nutrient(1087, "301", "Calcium, Ca", "mg", 0),
        nutrient(1089, "303", "Iron, Fe", "mg", 0),
        nutrient(1093, "307", "Sodium, Na", "mg", 860),
        nutrient(1104, "318", "Vitamin A, IU", "IU", 0),
        nutrient(1162, "401", "Vitamin C, total ascorbic acid", "mg", 0),
        nutrient(1253, "601", "Cholesterol", "mg", 0),
        nutrient(1258, "606", "Fatty acids, total saturated", "g", 0.13),
        nutrient(2000, "269", "Total Sugars", "g", 0)
      ],
      attributes: [
        { name: "Nutrient Updated", value: "4" },
        { name: "Nutrient Added", value: "5" }
      ],
      available_on: "2020-04-13",
      modified_on: "2020-04-13"
    },
    {
      ...unstated,
      ...common,
      id: brandedFoodId(1106915),
      fdc_id: 1106915,
      description: "PINEAPPLE & ORANGE HABANERO HOT SAUCE, PINEAPPLE & ORANGE HABANERO",
      brand_owner: "GUNTHER'S GOURMET",
      category: "Ketchup, Mustard, BBQ & Cheese Sauce",
      upc: "813090000000", // a spreadsheet's rounding, and a wrong check digit: as published
      serving_size: 15,
      household_serving_text: "1 Tbsp",
      ingredients:
        "CRUSHED PINEAPPLE, ORANGE JUICE, MANGO PUREE, DISTILLED VINEGAR, APPLE SAUCE, LEMON JUICE, SOY SAUCE (WATER, NON-GMO SOYBEANS, WHEAT, SALT), PURE HONEY, HABANERO PEPPERS, ROASTED GARLIC, SPICES AND SALT.",
      nutrition: {
        calories: 10,
        fat: 0,
        saturated_fat: 0,
        trans_fat: 0,
        cholesterol: 0,
        sodium: 30,
        carbohydrates: 2,
        fiber: 0,
        sugars: 2,
        protein: 0,
        calcium: 0,
        iron: 0
      },
      nutrients: [
        nutrient(1003, "203", "Protein", "g", 0),
        nutrient(1004, "204", "Total lipid (fat)", "g", 0),
        nutrient(1005, "205", "Carbohydrate, by difference", "g", 13.3),
        nutrient(1008, "208", "Energy", "kcal", 67),
        nutrient(1079, "291", "Fiber, total dietary", "g", 0),
        nutrient(1087, "301", "Calcium, Ca", "mg", 0),
        nutrient(1089, "303", "Iron, Fe", "mg", 0),
        nutrient(1093, "307", "Sodium, Na", "mg", 200),
        nutrient(1104, "318", "Vitamin A, IU", "IU", 667),
        nutrient(1162, "401", "Vitamin C, total ascorbic acid", "mg", 16),
        nutrient(1253, "601", "Cholesterol", "mg", 0),
        nutrient(1257, "605", "Fatty acids, total trans", "g", 0),
        nutrient(1258, "606", "Fatty acids, total saturated", "g", 0),
        nutrient(2000, "269", "Total Sugars", "g", 13.3)
      ],
      attributes: [{ name: "Description", value: "2" }],
      available_on: "2020-09-12",
      modified_on: "2020-09-12"
    }
  ]

  it("are these records, checked by hand against the file", async () => {
    expect(await recordsOf(home, ids)).toEqual(expected)
  })

  it("state the 29 values of their labels, and no others", async () => {
    interface Food {
      readonly labelNutrients: Readonly<Record<string, { readonly value: number }>>
    }
    const { BrandedFoods } = JSON.parse(readFileSync(sample(file), "utf8")) as {
      readonly BrandedFoods: ReadonlyArray<Food>
    }
    const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const labels = BrandedFoods.map(({ labelNutrients }) =>
      Object.fromEntries(Object.entries(labelNutrients).map(([key, { value }]) => [snake(key), value]))
    )
    expect(labels.flatMap(Object.keys).length).toBe(29)
    expect((await recordsOf(home, ids)).map((record) => record?.nutrition)).toEqual(labels)
  })

  it("give the same 29 values where the release does not state them, computed from amounts per 100 g", async () => {
    const folder = temporaryFolder()
    onTestFinished(() => removeFolder(folder))
    const text = readFileSync(sample(file), "utf8")
    const without = text.replace(/"labelNutrients":\{.*?\}\}/g, '"labelNutrients":{}')
    expect(without).not.toContain('"calories"')
    writeFileSync(path.join(folder, file), without)
    expect((await ingest(folder, path.join(folder, file))).code).toBe(0)
    expect(await recordsOf(folder, ids)).toEqual(expected)
  })
}

if (existsSync(samples)) {
  describe("the real slice of a CSV release", theSlice)
  describe("the three real bulk records", theBulkRecords)
} else {
  describe("the real labels: shared samples are absent", () => {
    it("so nothing is said about them here", () => {})
  })
}
