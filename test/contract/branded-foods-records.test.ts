/** What a label becomes: the record of the interface, field by field, the same from either form of a release. */
import { brandedFoodId } from "@larder/schemas/branded-food/id.ts"
import { describe, expect, it } from "vitest"
import { type Amount, aLabel, type Form, forms, homeWith, type Label } from "../labels.ts"
import { served } from "./served.ts"

type Expected = Readonly<Record<string, unknown>>
type Stated = Partial<Omit<Label, "fdc_id">>

const per100 = (amounts: Readonly<Record<number, string>>): ReadonlyArray<Amount> =>
  Object.entries(amounts).map(([id, amount]) => ({ nutrient_id: Number(id), amount }))

/** A serving, and amounts per 100 g of it. */
const serving = (size: string, amounts: Readonly<Record<number, string>>): Stated => ({
  serving_size: size,
  serving_size_unit: "g",
  nutrients: per100(amounts)
})

/** A label that states everything. */
const complete: Stated = {
  description: "ALMOND BRITTLE, MAPLE",
  publication_date: "2025-12-18",
  brand_owner: "Larkspur Foods, Inc.",
  brand_name: "LARKSPUR",
  subbrand_name: "SELECTS",
  gtin_upc: "059642932491",
  ingredients: "ALMONDS, SUGAR (CANE), MAPLE SYRUP, SALT.",
  serving_size: "40.0",
  serving_size_unit: "GRM",
  household_serving_fulltext: "1 PIECE",
  branded_food_category: "Chewing Gum & Mints",
  data_source: "GDSN",
  package_weight: "12 oz/340 g",
  modified_date: "2025-10-01",
  available_date: "2025-11-02",
  market_country: "United States",
  discontinued_date: "2026-01-31",
  preparation_state_code: "READY_TO_EAT",
  trade_channels: ["GROCERY", "ONLINE"],
  short_description: "ALM BRITTLE",
  nutrients: [
    { nutrient_id: 1008, amount: "450" },
    { nutrient_id: 1004, amount: "21.5" },
    { nutrient_id: 1258, amount: "1.75" },
    { nutrient_id: 1257, amount: "0.000" },
    { nutrient_id: 1253, amount: "5" },
    { nutrient_id: 1093, amount: "125" },
    { nutrient_id: 1005, amount: "62.5" },
    { nutrient_id: 1079, amount: "5.0" },
    { nutrient_id: 2000, amount: "55.1" },
    { nutrient_id: 1235, amount: "50" },
    { nutrient_id: 1003, amount: "7.50" },
    { nutrient_id: 1087, amount: "100" },
    { nutrient_id: 1089, amount: "1.5" },
    { nutrient_id: 1092, amount: "250" },
    { nutrient_id: 1114, amount: "2.5" }
  ],
  attributes: [
    { name: "Nutrient Added", value: "5" },
    { name: "Description", value: "2" }
  ],
  gpc_class_code: "50161800",
  caffeine_statement: "CONTAINS NO CAFFEINE",
  footnote: "Percent daily values are based on a 2,000 calorie diet."
}

const completeRecord = (form: Form): Expected => ({
  fdc_id: 1000,
  description: "ALMOND BRITTLE, MAPLE",
  short_description: "ALM BRITTLE",
  brand_owner: "Larkspur Foods, Inc.",
  brand_name: "LARKSPUR",
  subbrand_name: "SELECTS",
  category: "Chewing Gum & Mints",
  gpc_class_code: form === "json" ? 50161800 : null,
  upc: "059642932491",
  package_weight: "12 oz/340 g",
  serving_size: 40,
  serving_size_unit: "GRM",
  serving_size_unit_normalized: "g",
  household_serving_text: "1 PIECE",
  preparation_state_code: "READY_TO_EAT",
  market_country: "United States",
  market_country_normalized: "US",
  trade_channels: ["GROCERY", "ONLINE"],
  ingredients: "ALMONDS, SUGAR (CANE), MAPLE SYRUP, SALT.",
  nutrition: {
    calories: 180,
    fat: 8.6,
    saturated_fat: 0.7,
    trans_fat: 0,
    cholesterol: 2,
    sodium: 50,
    carbohydrates: 25,
    fiber: 2,
    sugars: 22, // 22.04
    added_sugar: 20,
    protein: 3,
    calcium: 40,
    iron: 0.6,
    potassium: 100,
    vitamin_d: 1
  },
  nutrients: [
    { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 7.5 },
    { nutrient_id: 1004, number: "204", name: "Total lipid (fat)", unit: "g", amount: 21.5 },
    { nutrient_id: 1005, number: "205", name: "Carbohydrate, by difference", unit: "g", amount: 62.5 },
    { nutrient_id: 1008, number: "208", name: "Energy", unit: "kcal", amount: 450 },
    { nutrient_id: 1079, number: "291", name: "Fiber, total dietary", unit: "g", amount: 5 },
    { nutrient_id: 1087, number: "301", name: "Calcium, Ca", unit: "mg", amount: 100 },
    { nutrient_id: 1089, number: "303", name: "Iron, Fe", unit: "mg", amount: 1.5 },
    { nutrient_id: 1092, number: "306", name: "Potassium, K", unit: "mg", amount: 250 },
    { nutrient_id: 1093, number: "307", name: "Sodium, Na", unit: "mg", amount: 125 },
    { nutrient_id: 1114, number: "328", name: "Vitamin D (D2 + D3)", unit: "µg", amount: 2.5 },
    { nutrient_id: 1235, number: "539", name: "Sugars, added", unit: "g", amount: 50 },
    { nutrient_id: 1253, number: "601", name: "Cholesterol", unit: "mg", amount: 5 },
    { nutrient_id: 1257, number: "605", name: "Fatty acids, total trans", unit: "g", amount: 0 },
    { nutrient_id: 1258, number: "606", name: "Fatty acids, total saturated", unit: "g", amount: 1.75 },
    { nutrient_id: 2000, number: "269", name: "Total Sugars", unit: "g", amount: 55.1 }
  ],
  attributes: [
    { name: "Nutrient Added", value: "5" },
    { name: "Description", value: "2" }
  ],
  caffeine_statement: form === "json" ? "CONTAINS NO CAFFEINE" : null,
  footnote: form === "json" ? "Percent daily values are based on a 2,000 calorie diet." : null,
  data_source: "GDSN",
  published_on: "2025-12-18",
  available_on: "2025-11-02",
  modified_on: "2025-10-01",
  discontinued_on: "2026-01-31",
  source: "gov-fdc"
})

/** All that a label may leave out, left out. */
const bareRecord: Expected = {
  fdc_id: 1001,
  description: "ROLLED OATS",
  short_description: null,
  brand_owner: null,
  brand_name: null,
  subbrand_name: null,
  category: null,
  gpc_class_code: null,
  upc: null,
  package_weight: null,
  serving_size: null,
  serving_size_unit: null,
  serving_size_unit_normalized: null,
  household_serving_text: null,
  preparation_state_code: null,
  market_country: null,
  market_country_normalized: null,
  trade_channels: [],
  ingredients: null,
  nutrition: {},
  nutrients: [],
  attributes: [],
  caffeine_statement: null,
  footnote: null,
  data_source: null,
  published_on: null,
  available_on: null,
  modified_on: null,
  discontinued_on: null,
  source: "gov-fdc"
}

/** What the labels after these two state, and what their records must have. */
const rules: ReadonlyArray<readonly [string, Stated, Expected, only?: Form]> = [
  // texts
  ["texts are trimmed", { brand_owner: "  Acme Foods \t" }, { brand_owner: "Acme Foods" }],
  ["inner blanks collapse", { description: "OAT  MILK \t 1L\u00a0 X" }, { description: "OAT MILK 1L X" }],
  ["line breaks are blanks", { ingredients: "OATS,\nWATER\r\n, SALT" }, { ingredients: "OATS, WATER , SALT" }],
  [
    "literal doubled quotes are undoubled",
    { description: 'ORGANIC BEEF ""FAJITA"" 6""' },
    { description: 'ORGANIC BEEF "FAJITA" 6"' }
  ],
  ["brackets of [[…]] are dropped", { brand_owner: "[[Conagra Brands, Inc]]" }, { brand_owner: "Conagra Brands, Inc" }],
  ["single brackets stay", { ingredients: "CRUMB [CARROT, YEAST]" }, { ingredients: "CRUMB [CARROT, YEAST]" }],
  [
    "case and foreign letters are kept",
    { description: "Crème Brûlée MÜSLI 燕麦 😀" },
    { description: "Crème Brûlée MÜSLI 燕麦 😀" }
  ],
  [
    "blanks alone are nothing",
    { brand_name: "   ", package_weight: " \t" },
    { brand_name: null, package_weight: null }
  ],
  [
    "NOT A BRANDED ITEM is no brand",
    { brand_owner: "NOT A BRANDED ITEM", brand_name: "NOT A BRANDED ITEM" },
    { brand_owner: null, brand_name: null }
  ],
  [
    "ingredient statements are as published",
    { ingredients: "INGREDIENTS: ,OATS 100% \\ _" },
    { ingredients: "INGREDIENTS: ,OATS 100% \\ _" }
  ],
  [
    "blanks in categories collapse",
    { branded_food_category: "Non Alcoholic Beverages  Ready to Drink" },
    { category: "Non Alcoholic Beverages Ready to Drink" }
  ],
  ["a number is no category", { branded_food_category: "21.99" }, { category: null }],
  [
    "food.csv has the category where the other file lacks it",
    { food_category_id: "Oils Edible" },
    { category: "Oils Edible" },
    "csv"
  ],
  [
    "a numeric category gives way to the one in food.csv",
    { branded_food_category: "3.66", food_category_id: "Oils Edible" },
    { category: "Oils Edible" },
    "csv"
  ],
  [
    "states of preparation are in upper case",
    { preparation_state_code: "prepared" },
    { preparation_state_code: "PREPARED" }
  ],
  // barcodes are answered as published
  ["barcodes keep their zeros", { gtin_upc: "00016000227835" }, { upc: "00016000227835" }],
  ["barcodes with a wrong check digit stay", { gtin_upc: "813090000000" }, { upc: "813090000000" }],
  ["barcodes that are none stay", { gtin_upc: "8906004982514abf" }, { upc: "8906004982514abf" }],
  // servings
  ...(["g", "GM", "GRM"] as const).map(
    (unit) =>
      [
        `${unit} is g`,
        { serving_size: "30", serving_size_unit: unit },
        { serving_size: 30, serving_size_unit: unit, serving_size_unit_normalized: "g" }
      ] as const
  ),
  ...(["ml", "MLT"] as const).map(
    (unit) =>
      [
        `${unit} is ml`,
        { serving_size: "240", serving_size_unit: unit },
        { serving_size: 240, serving_size_unit: unit, serving_size_unit_normalized: "ml" }
      ] as const
  ),
  ...(["MG", "IU", "MC"] as const).flatMap(
    (unit) =>
      [
        [
          `${unit} of something solid is g, unscaled`,
          { ...serving("42", { 1008: "500" }), serving_size_unit: unit, branded_food_category: "Candy" },
          { serving_size: 42, serving_size_unit: unit, serving_size_unit_normalized: "g", nutrition: { calories: 210 } }
        ],
        [
          `${unit} of a drink is ml, unscaled`,
          {
            ...serving("473", { 1008: "50" }),
            serving_size_unit: unit,
            household_serving_fulltext: "1 Bottle (473mL)"
          },
          {
            serving_size: 473,
            serving_size_unit: unit,
            serving_size_unit_normalized: "ml",
            nutrition: { calories: 236 }
          }
        ]
      ] as const
  ),
  [
    "a unit that nobody knows is null",
    { serving_size: "2", serving_size_unit: "oz" },
    { serving_size: 2, serving_size_unit: "oz", serving_size_unit_normalized: null }
  ],
  [
    "a serving size without a unit still gives nutrition",
    { ...serving("50", { 1003: "10" }), serving_size_unit: "" },
    { serving_size: 50, serving_size_unit: null, serving_size_unit_normalized: null, nutrition: { protein: 5 } }
  ],
  ["float32 noise is cleaned", { serving_size: "1.7999999523162842" }, { serving_size: 1.8 }],
  ["float32 noise of greater numbers is cleaned", { serving_size: "56.70000076293945" }, { serving_size: 56.7 }],
  ["exponents are read", { serving_size: "4.00E+4" }, { serving_size: 40000 }],
  [
    "amounts have exponents, too",
    serving("1", { 1093: "4.00E+4" }),
    {
      nutrition: { sodium: 400 },
      nutrients: [{ nutrient_id: 1093, number: "307", name: "Sodium, Na", unit: "mg", amount: 40000 }]
    }
  ],
  [
    "a serving size of 0 is null, and then there is no nutrition",
    { ...serving("0", { 1003: "10" }), label_nutrients: { protein: "3" } },
    {
      serving_size: null,
      serving_size_unit: "g",
      nutrition: {},
      nutrients: [{ nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 10 }]
    }
  ],
  ["nor without a serving size", { nutrients: per100({ 1003: "10" }) }, { serving_size: null, nutrition: {} }],
  // nutrition
  ["halves go to the even digit, down", serving("100", { 1004: "1.125" }), { nutrition: { fat: 1.12 } }],
  ["halves go to the even digit, up", serving("100", { 1004: "1.135" }), { nutrition: { fat: 1.14 } }],
  ["more than half goes up", serving("100", { 1004: "1.1251" }), { nutrition: { fat: 1.13 } }],
  ["decimal halves are halves", serving("30", { 1004: "33.35" }), { nutrition: { fat: 10 } }], // 10.005
  ["large numbers have three digits, too", serving("100", { 1008: "12350" }), { nutrition: { calories: 12400 } }],
  ["so have small ones", serving("1", { 1089: "0.012345" }), { nutrition: { iron: 0.000123 } }],
  [
    "what is not stated has no key, what is 0 has one",
    serving("28", { 1004: "0", 1003: "0.000" }),
    { nutrition: { fat: 0, protein: 0 } }
  ],
  [
    "an amount that is missing is not stated",
    serving("28", { 1004: "" }),
    {
      nutrition: {},
      nutrients: [{ nutrient_id: 1004, number: "204", name: "Total lipid (fat)", unit: "g", amount: null }]
    }
  ],
  [
    "calories are 1008",
    serving("100", { 1008: "101", 2047: "102", 2048: "103", 1062: "418" }),
    { nutrition: { calories: 101 } }
  ],
  ["else 2047", serving("100", { 2047: "102", 2048: "103", 1062: "418" }), { nutrition: { calories: 102 } }],
  ["else 2048", serving("100", { 2048: "103", 1062: "418" }), { nutrition: { calories: 103 } }],
  [
    "and never converted from kJ",
    serving("100", { 1062: "418" }),
    {
      nutrition: {},
      nutrients: [{ nutrient_id: 1062, number: "268", name: "Energy", unit: "kJ", amount: 418 }]
    }
  ],
  ["sugars are 2000", serving("100", { 2000: "11", 1063: "12" }), { nutrition: { sugars: 11 } }],
  ["else 1063", serving("100", { 1063: "12" }), { nutrition: { sugars: 12 } }],
  ["vitamin D is in µg", serving("100", { 1114: "2.5", 1110: "400" }), { nutrition: { vitamin_d: 2.5 } }],
  [
    "of IU 40 are a µg",
    serving("50", { 1110: "333" }),
    {
      nutrition: { vitamin_d: 4.16 }, // 4.1625
      nutrients: [
        {
          nutrient_id: 1110,
          number: "324",
          name: "Vitamin D (D2 + D3), International Units",
          unit: "IU",
          amount: 333
        }
      ]
    }
  ],
  ["vitamin A is in no key", serving("100", { 1104: "667" }), { nutrition: {} }],
  [
    "of two amounts of a nutrient the better founded counts, and both are listed",
    {
      ...serving("100", {}),
      nutrients: [
        { nutrient_id: 1008, amount: "117", derivation: "LCCD" },
        { nutrient_id: 1008, amount: "234", derivation: "LCCS" }
      ]
    },
    {
      nutrition: { calories: 234 },
      nutrients: [
        { nutrient_id: 1008, number: "208", name: "Energy", unit: "kcal", amount: 234 },
        { nutrient_id: 1008, number: "208", name: "Energy", unit: "kcal", amount: 117 }
      ]
    }
  ],
  [
    "of two that are equally founded the last counts",
    {
      ...serving("100", {}),
      nutrients: [
        { nutrient_id: 1003, amount: "1" },
        { nutrient_id: 1003, amount: "2" }
      ]
    },
    { nutrition: { protein: 2 } }
  ],
  [
    "the label's own value goes before the computed one",
    { ...serving("40", { 1008: "333", 1003: "10" }), label_nutrients: { calories: "130", sodium: "7.10" } },
    { nutrition: { calories: 130, protein: 4, sodium: 7.1 } },
    "json"
  ],
  [
    "but not for vitamin D, whose unit nobody documents",
    { ...serving("100", { 1110: "40" }), label_nutrients: { vitaminD: "40" } },
    { nutrition: { vitamin_d: 1 } },
    "json"
  ],
  [
    "an empty label is no label",
    { ...serving("50", { 1003: "10" }), label_nutrients: {} },
    { nutrition: { protein: 5 } },
    "json"
  ],
  [
    "impossible amounts are published",
    serving("100", { 1008: "26000", 1003: "750" }),
    { nutrition: { calories: 26000, protein: 750 } }
  ],
  [
    "a nutrient that the dictionary does not know is named as the release names it",
    {
      nutrients: [{ nutrient_id: 99001, amount: "1.5", unknown: { number: "999.1", name: "Novelty", unitName: "MG" } }]
    },
    { nutrients: [{ nutrient_id: 99001, number: "999.1", name: "Novelty", unit: "mg", amount: 1.5 }] },
    "json"
  ],
  // lists
  ["a trade channel stands once", { trade_channels: ["GROCERY", "GROCERY"] }, { trade_channels: ["GROCERY"] }],
  ["no trade channel is none", { trade_channels: ["NO_TRADE_CHANNEL"] }, { trade_channels: [] }],
  [
    "an attribute may lack its value",
    { attributes: [{ name: "Nutrient Updated", value: "" }] },
    { attributes: [{ name: "Nutrient Updated", value: null }] }
  ],
  // countries
  ...(
    [
      ["United States", "US"],
      ["US", "US"],
      ["New Zealand", "NZ"],
      ["united states", "US"],
      ["Atlantis", null]
    ] as const
  ).map(
    ([country, code]) =>
      [
        `${country} is ${code}`,
        { market_country: country },
        { market_country: country, market_country_normalized: code }
      ] as const
  ),
  // days
  [
    "days of either form are read",
    {
      publication_date: "11/13/2020",
      available_date: "4/1/2020",
      modified_date: "2020-03-31",
      discontinued_date: "2/29/2024"
    },
    {
      published_on: "2020-11-13",
      available_on: "2020-04-01",
      modified_on: "2020-03-31",
      discontinued_on: "2024-02-29"
    }
  ]
]

const labels = [complete, { data_source: "", publication_date: "" }, ...rules.map(([, stated]) => stated)].map(
  (stated, index) => aLabel({ ...stated, fdc_id: 1000 + index })
)

describe.each(forms)("a record out of the %s form", (form) => {
  const api = served({ home: () => homeWith(labels, form) })
  const record = async (fdcId: number): Promise<Expected> => {
    const { json, status } = await api.get(`/v1/branded-foods/${brandedFoodId(fdcId)}`)
    expect(status).toBe(200)
    return (json as { readonly data: Expected }).data
  }

  it("has exactly the fields of the interface, in their order", async () => {
    const found = await record(1000)
    expect(Object.keys(found)).toEqual(["id", ...Object.keys(bareRecord), "fetched_at"])
    expect(found).toEqual({ id: brandedFoodId(1000), ...completeRecord(form), fetched_at: expect.any(String) })
    expect(Object.keys(found.nutrition as object)).toEqual(Object.keys(completeRecord(form).nutrition as object))
  })

  it("has null for what the label does not state, [] for lists, and a nutrition without keys", async () => {
    expect(await record(1001)).toEqual({ id: brandedFoodId(1001), ...bareRecord, fetched_at: expect.any(String) })
  })

  it("tells when its payload was fetched, in UTC with milliseconds", async () => {
    const { fetched_at } = await record(1000)
    expect(fetched_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const age = Date.now() - Date.parse(String(fetched_at))
    expect(age).toBeGreaterThan(0)
    expect(age).toBeLessThan(24 * 3600 * 1000)
  })

  it("is the same in the search", async () => {
    const { json } = await api.get("/v1/branded-foods?name=almond+brittle")
    expect(json).toEqual({ data: [await record(1000)], next_cursor: null })
  })

  const ofThisForm = rules
    .map(([rule, , expected, only = form], index) => ({ rule, expected, only, fdcId: 1002 + index }))
    .filter(({ only }) => only === form)
  it.each(ofThisForm)("$rule", async ({ expected, fdcId }) => {
    const found = await record(fdcId)
    expect(Object.fromEntries(Object.keys(expected).map((field) => [field, found[field]]))).toEqual(expected)
  })
})
