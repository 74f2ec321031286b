/** A label with nearly all fields, its record, and the record of a label that states only its name. */

import { emptyFood } from "../support/empty-food.ts"
import type { Form, Label } from "../support/label-releases.ts"

export type Expected = Readonly<Record<string, unknown>>
export type Stated = Partial<Omit<Label, "fdc_id">>

/** A name, the fields of a label, and the expected fields of its record. `onlyForm`: the only form that states them. */
export type Rule = readonly [name: string, stated: Stated, expected: Expected, onlyForm?: Form]

/** A label with nearly all fields. */
export const complete: Stated = {
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

export const completeRecord = (form: Form): Expected => ({
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

/** The record of a label without any optional field. */
export const emptyRecord: Expected = { fdc_id: 1001, ...emptyFood }
