/** Rules for serving, amounts and stated nutrition of a label: a label, and the fields of its record. */
import type { Amount } from "../support/label-releases.ts"
import type { Rule, Stated } from "./branded-food-whole-labels.ts"

const per100 = (amounts: Readonly<Record<number, string>>): ReadonlyArray<Amount> =>
  Object.entries(amounts).map(([id, amount]) => ({ nutrient_id: Number(id), amount }))

/** A serving, and amounts per 100 g of it. */
const serving = (size: string, amounts: Readonly<Record<number, string>>): Stated => ({
  serving_size: size,
  serving_size_unit: "g",
  nutrients: per100(amounts)
})

export const nutritionRules: ReadonlyArray<Rule> = [
  // servings
  ...(["g", "GM", "GRM"] as const).map(
    (unit) =>
      [
        `the unit ${unit} is normalised to g`,
        { serving_size: "30", serving_size_unit: unit },
        { serving_size: 30, serving_size_unit: unit, serving_size_unit_normalized: "g" }
      ] as const
  ),
  ...(["ml", "MLT"] as const).map(
    (unit) =>
      [
        `the unit ${unit} is normalised to ml`,
        { serving_size: "240", serving_size_unit: unit },
        { serving_size: 240, serving_size_unit: unit, serving_size_unit_normalized: "ml" }
      ] as const
  ),
  ...(["MG", "IU", "MC"] as const).flatMap(
    (unit) =>
      [
        [
          `the unit ${unit} of a solid food is normalised to g, unscaled`,
          { ...serving("42", { 1008: "500" }), serving_size_unit: unit, branded_food_category: "Candy" },
          { serving_size: 42, serving_size_unit: unit, serving_size_unit_normalized: "g", nutrition: { calories: 210 } }
        ],
        [
          `the unit ${unit} of a drink is normalised to ml, unscaled`,
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
  ...(
    [
      ["1", "ONZ", 94.4],
      ["2", "oz", 189],
      ["8", "OZA", 788],
      ["1", "LBR", 1510],
      ["0.24", "LTR", 799],
      ["0.1", "KGM", 333],
      ["2", "CLT", 66.6],
      ["500", "MGM", 1.66], // 1.665
      ["30", "grams", 99.9]
    ] as const
  ).map(
    ([size, unit, calories]) =>
      [
        `nutrition of ${size} ${unit} is computed from g or ml, and the serving stays as published`,
        { ...serving(size, { 1008: "333" }), serving_size_unit: unit },
        {
          serving_size: Number(size),
          serving_size_unit: unit,
          serving_size_unit_normalized: null,
          nutrition: { calories }
        }
      ] as const
  ),
  [
    "nothing is computed for a unit that is not one of mass or volume",
    { ...serving("1", { 1008: "333", 1004: "0", 1110: "40" }), serving_size_unit: "EA" },
    { serving_size: 1, serving_size_unit: "EA", serving_size_unit_normalized: null, nutrition: {} }
  ],
  [
    "the label's own values stay for such a unit, except for vitamin D",
    {
      ...serving("1", { 1008: "333", 1004: "0" }),
      serving_size_unit: "EA",
      label_nutrients: { calories: "130", vitaminD: "5" }
    },
    { serving_size_unit: "EA", nutrition: { calories: 130 } },
    "json"
  ],
  [
    "a serving size without a unit is enough for nutrition",
    { ...serving("50", { 1003: "10" }), serving_size_unit: "" },
    { serving_size: 50, serving_size_unit: null, serving_size_unit_normalized: null, nutrition: { protein: 5 } }
  ],
  ["float32 noise is cleaned", { serving_size: "1.7999999523162842" }, { serving_size: 1.8 }],
  ["float32 noise of larger numbers is cleaned", { serving_size: "56.70000076293945" }, { serving_size: 56.7 }],
  ["an exponent in a serving size is read", { serving_size: "4.00E+4" }, { serving_size: 40000 }],
  [
    "an exponent in an amount is read",
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
  [
    "without a serving size there is no nutrition",
    { nutrients: per100({ 1003: "10" }) },
    { serving_size: null, nutrition: {} }
  ],
  // nutrition
  ["an exact half is rounded down to an even digit", serving("100", { 1004: "1.125" }), { nutrition: { fat: 1.12 } }],
  ["an exact half is rounded up to an even digit", serving("100", { 1004: "1.135" }), { nutrition: { fat: 1.14 } }],
  ["more than a half is rounded up", serving("100", { 1004: "1.1251" }), { nutrition: { fat: 1.13 } }],
  ["decimal halves are exact halves", serving("30", { 1004: "33.35" }), { nutrition: { fat: 10 } }], // 10.005
  ["large numbers are rounded to three digits", serving("100", { 1008: "12350" }), { nutrition: { calories: 12400 } }],
  ["small numbers are rounded to three digits", serving("1", { 1089: "0.012345" }), { nutrition: { iron: 0.000123 } }],
  [
    "an amount that is not stated has no key, and 0 has one",
    serving("28", { 1004: "0", 1003: "0.000" }),
    { nutrition: { fat: 0, protein: 0 } }
  ],
  [
    "a missing amount has no key",
    serving("28", { 1004: "" }),
    {
      nutrition: {},
      nutrients: [{ nutrient_id: 1004, number: "204", name: "Total lipid (fat)", unit: "g", amount: null }]
    }
  ],
  [
    "calories are read from nutrient 1008",
    serving("100", { 1008: "101", 2047: "102", 2048: "103", 1062: "418" }),
    { nutrition: { calories: 101 } }
  ],
  [
    "calories are read from 2047 when 1008 is missing",
    serving("100", { 2047: "102", 2048: "103", 1062: "418" }),
    { nutrition: { calories: 102 } }
  ],
  [
    "calories are read from 2048 when 1008 and 2047 are missing",
    serving("100", { 2048: "103", 1062: "418" }),
    { nutrition: { calories: 103 } }
  ],
  [
    "calories are never converted from kJ",
    serving("100", { 1062: "418" }),
    {
      nutrition: {},
      nutrients: [{ nutrient_id: 1062, number: "268", name: "Energy", unit: "kJ", amount: 418 }]
    }
  ],
  ["sugars are read from nutrient 2000", serving("100", { 2000: "11", 1063: "12" }), { nutrition: { sugars: 11 } }],
  ["sugars are read from 1063 when 2000 is missing", serving("100", { 1063: "12" }), { nutrition: { sugars: 12 } }],
  ["vitamin D is in µg", serving("100", { 1114: "2.5", 1110: "400" }), { nutrition: { vitamin_d: 2.5 } }],
  [
    "vitamin D in IU is converted: 40 IU are 1 µg",
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
  ["vitamin A has no key", serving("100", { 1104: "667" }), { nutrition: {} }],
  [
    "of two amounts of a nutrient, the more reliable one counts, and both are listed",
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
    "of two equally reliable amounts, the last one counts",
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
    "the label's own value is preferred to the computed one",
    { ...serving("40", { 1008: "333", 1003: "10" }), label_nutrients: { calories: "130", sodium: "7.10" } },
    { nutrition: { calories: 130, protein: 4, sodium: 7.1 } },
    "json"
  ],
  [
    "the label's own vitamin D is ignored, as its unit is not documented",
    { ...serving("100", { 1110: "40" }), label_nutrients: { vitaminD: "40" } },
    { nutrition: { vitamin_d: 1 } },
    "json"
  ],
  [
    "an empty list of label values is ignored",
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
    "a nutrient that is not in the dictionary has the release's name",
    {
      nutrients: [
        { nutrient_id: 99001, amount: "1.5", described: { number: "999.1", name: "Novelty", unitName: "MG" } }
      ]
    },
    { nutrients: [{ nutrient_id: 99001, number: "999.1", name: "Novelty", unit: "mg", amount: 1.5 }] },
    "json"
  ]
]
