/** Rules for texts, barcodes, lists, countries and days of a label: a label, and the fields of its record. */
import type { Rule } from "./branded-food-whole-labels.ts"

export const labelRules: ReadonlyArray<Rule> = [
  // texts
  ["texts are trimmed", { brand_owner: "  Acme Foods \t" }, { brand_owner: "Acme Foods" }],
  ["inner spaces collapse", { description: "OAT  MILK \t 1L\u00a0 X" }, { description: "OAT MILK 1L X" }],
  ["line breaks become spaces", { ingredients: "OATS,\nWATER\r\n, SALT" }, { ingredients: "OATS, WATER , SALT" }],
  [
    "doubled double quotes become one",
    { description: 'ORGANIC BEEF ""FAJITA"" 6""' },
    { description: 'ORGANIC BEEF "FAJITA" 6"' }
  ],
  [
    "double brackets around a text are dropped",
    { brand_owner: "[[Conagra Brands, Inc]]" },
    { brand_owner: "Conagra Brands, Inc" }
  ],
  ["single brackets stay", { ingredients: "CRUMB [CARROT, YEAST]" }, { ingredients: "CRUMB [CARROT, YEAST]" }],
  [
    "case and foreign letters are kept",
    { description: "Crème Brûlée MÜSLI 燕麦 😀" },
    { description: "Crème Brûlée MÜSLI 燕麦 😀" }
  ],
  [
    "texts that contain only spaces become null",
    { brand_name: "   ", package_weight: " \t" },
    { brand_name: null, package_weight: null }
  ],
  [
    "NOT A BRANDED ITEM becomes null",
    { brand_owner: "NOT A BRANDED ITEM", brand_name: "NOT A BRANDED ITEM" },
    { brand_owner: null, brand_name: null }
  ],
  [
    "ingredient statements stay as published",
    { ingredients: "INGREDIENTS: ,OATS 100% \\ _" },
    { ingredients: "INGREDIENTS: ,OATS 100% \\ _" }
  ],
  [
    "spaces in categories collapse",
    { branded_food_category: "Non Alcoholic Beverages  Ready to Drink" },
    { category: "Non Alcoholic Beverages Ready to Drink" }
  ],
  ["a number as category becomes null", { branded_food_category: "21.99" }, { category: null }],
  [
    "the category is read from food.csv if the other file lacks it",
    { food_category_id: "Oils Edible" },
    { category: "Oils Edible" },
    "csv"
  ],
  [
    "a numeric category is replaced by the one in food.csv",
    { branded_food_category: "3.66", food_category_id: "Oils Edible" },
    { category: "Oils Edible" },
    "csv"
  ],
  [
    "states of preparation become upper case",
    { preparation_state_code: "prepared" },
    { preparation_state_code: "PREPARED" }
  ],
  // barcodes are returned as published
  ["barcodes keep their zeros", { gtin_upc: "00016000227835" }, { upc: "00016000227835" }],
  ["barcodes with a wrong check digit stay", { gtin_upc: "813090000000" }, { upc: "813090000000" }],
  ["texts that are not barcodes stay", { gtin_upc: "8906004982514abf" }, { upc: "8906004982514abf" }],
  ...["0", "00000000000000", "1236", "12345"].map(
    (code) => [`the code ${code} is no barcode`, { gtin_upc: code }, { upc: null }] as const
  ),
  ["five digits with their check digit are a barcode", { gtin_upc: "12348" }, { upc: "12348" }],
  // lists
  [
    "a repeated trade channel is listed once",
    { trade_channels: ["GROCERY", "GROCERY"] },
    { trade_channels: ["GROCERY"] }
  ],
  ["NO_TRADE_CHANNEL becomes an empty list", { trade_channels: ["NO_TRADE_CHANNEL"] }, { trade_channels: [] }],
  [
    "an attribute without a value has null",
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
      ["Turkey", "TR"],
      ["Hong Kong", "HK"],
      ["Viet Nam", "VN"],
      ["Korea, Republic of", "KR"],
      ["CANADA", "CA"],
      ["Atlantis", null]
    ] as const
  ).map(
    ([country, code]) =>
      [
        `the country ${country} is normalised to ${code}`,
        { market_country: country },
        { market_country: country, market_country_normalized: code }
      ] as const
  ),
  // days
  [
    "days are read in both spellings",
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
