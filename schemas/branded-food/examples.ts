/**
 * Example calls of the branded-food endpoints and their responses, from the bundled samples, whose labels are made up.
 */
import type { Examples } from "../endpoint.ts"

const label = {
  id: "data_branded_food_1ny9dk8",
  fdc_id: 1132075,
  description: "ITALIAN ENGLISH MUFFINS, 12 PACK",
  short_description: null,
  brand_owner: "Mountain Confections COMPANY",
  brand_name: "MOUNTAIN CONFECTIONS",
  subbrand_name: null,
  category: "Breads & Buns",
  gpc_class_code: null,
  upc: "813628784241",
  package_weight: "12 fl oz/355 mL",
  serving_size: 60,
  serving_size_unit: "g",
  serving_size_unit_normalized: "g",
  household_serving_text: "1 ONZ",
  preparation_state_code: null,
  market_country: "United States",
  market_country_normalized: "US",
  trade_channels: [],
  ingredients:
    "UNBLEACHED WHEAT FLOUR, ENZYMES, SUGAR, PALM OIL, CITRIC ACID, HIGH FRUCTOSE CORN SYRUP, NATURAL FLAVOR, YEAST, WATER AND/OR RIBOFLAVIN, ORGANIC MONO- AND DIGLYCERIDES AND/OR GUAVA, SEA SALT, SALT, POTASSIUM SORBATE (PRESERVATIVE), ORGANIC ARTICHOKE AND VINEGAR, GARLIC POWDER, XANTHAN GUM",
  nutrition: { calories: 60, fat: 1.5, trans_fat: 0, sodium: 520, carbohydrates: 7.5, protein: 5, potassium: 120 },
  nutrients: [
    { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 8.33 },
    { nutrient_id: 1004, number: "204", name: "Total lipid (fat)", unit: "g", amount: 2.5 },
    { nutrient_id: 1005, number: "205", name: "Carbohydrate, by difference", unit: "g", amount: 12.5 },
    { nutrient_id: 1008, number: "208", name: "Energy", unit: "kcal", amount: 100 },
    { nutrient_id: 1092, number: "306", name: "Potassium, K", unit: "mg", amount: 200 },
    { nutrient_id: 1093, number: "307", name: "Sodium, Na", unit: "mg", amount: 867 },
    { nutrient_id: 1257, number: "605", name: "Fatty acids, total trans", unit: "g", amount: 0 }
  ],
  attributes: [],
  caffeine_statement: null,
  footnote: null,
  data_source: "LI",
  published_on: "2020-11-13",
  available_on: "2020-11-13",
  modified_on: "2020-10-15",
  discontinued_on: null,
  source: "gov-fdc",
  fetched_at: "2026-11-22T09:00:00.000Z"
}

export const searchBrandedFoodsExamples: Examples = {
  search: {
    summary: "The first product of a brand",
    target: "/v1/branded-foods?brand=mountain&limit=1",
    body: { data: [label], next_cursor: "OMO25qx2u8zv9E7mWyIxMTMyMDc1Il0" }
  }
}

export const getBrandedFoodCategoriesExamples: Examples = {
  categories: {
    summary: "Four of the categories",
    target: "/v1/branded-foods/categories",
    body: {
      data: [
        { category: "Bacon, Sausages & Ribs", product_count: 3 },
        { category: "Baking Decorations & Dessert Toppings", product_count: 5 },
        { category: "Baking/Cooking Mixes/Supplies", product_count: 4 },
        { category: "Biscuits/Cookies", product_count: 5 }
      ]
    }
  }
}

export const getBrandedFoodExamples: Examples = {
  food: { summary: "One label", target: "/v1/branded-foods/data_branded_food_1ny9dk8", body: { data: label } }
}
