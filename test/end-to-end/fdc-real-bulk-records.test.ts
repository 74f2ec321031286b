/** Compares the three real bulk records field by field, with and without the label values of the release. */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { describeSamples, samplesOf } from "../support/shared-samples.ts"
import { ingest, recordsOf } from "./branded-foods.ts"
import { parseRunRecord, removeFolder, temporaryFolder } from "./ingesting.ts"

const sample = (name: string) => path.join(samplesOf("fdc"), name)

const testBulkRecords = () => {
  const home = temporaryFolder()
  const file = "fdc_extract_3records_bulk_shape.json"
  const ids = [1106457, 1106628, 1106915]
  beforeAll(async () => {
    const result = await ingest(home, sample(file))
    expect([result.code, parseRunRecord(result)]).toMatchObject([
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
  const defaults = {
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
      ...defaults,
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
      ...defaults,
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
      ...defaults,
      ...common,
      id: brandedFoodId(1106915),
      fdc_id: 1106915,
      description: "PINEAPPLE & ORANGE HABANERO HOT SAUCE, PINEAPPLE & ORANGE HABANERO",
      brand_owner: "GUNTHER'S GOURMET",
      category: "Ketchup, Mustard, BBQ & Cheese Sauce",
      upc: "813090000000", // as published: rounded by a spreadsheet, with a wrong check digit
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

  it("match the records that were checked by hand, field by field", async () => {
    expect(await recordsOf(home, ids)).toEqual(expected)
  })

  it("contain the 29 values of their labels, and no others", async () => {
    interface Food {
      readonly labelNutrients: Readonly<Record<string, { readonly value: number }>>
    }
    const { BrandedFoods } = JSON.parse(readFileSync(sample(file), "utf8")) as {
      readonly BrandedFoods: ReadonlyArray<Food>
    }
    const toSnakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    const labels = BrandedFoods.map(({ labelNutrients }) =>
      Object.fromEntries(Object.entries(labelNutrients).map(([key, { value }]) => [toSnakeCase(key), value]))
    )
    expect(labels.flatMap(Object.keys).length).toBe(29)
    expect((await recordsOf(home, ids)).map((record) => record?.nutrition)).toEqual(labels)
  })

  it("have the same 29 values, calculated from amounts per 100 g, if the release has no label values", async () => {
    const folder = temporaryFolder()
    onTestFinished(() => removeFolder(folder))
    const text = readFileSync(sample(file), "utf8")
    const textWithoutLabelValues = text.replace(/"labelNutrients":\{.*?\}\}/g, '"labelNutrients":{}')
    expect(textWithoutLabelValues).not.toContain('"calories"')
    writeFileSync(path.join(folder, file), textWithoutLabelValues)
    expect((await ingest(folder, path.join(folder, file))).code).toBe(0)
    expect(await recordsOf(folder, ids)).toEqual(expected)
  })
}

describeSamples("fdc", "the three real bulk records", testBulkRecords)
