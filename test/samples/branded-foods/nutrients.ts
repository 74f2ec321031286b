/** Nutrients of branded foods, and derivations of the source. Shares and quantiles come from the 2023-10 release. */

export interface Nutrient {
  readonly id: number
  readonly number: string
  readonly name: string
  readonly rank: number
  /** As in the JSON. */
  readonly unit: string
  readonly share: number
  readonly zeros: number
  readonly points: ReadonlyArray<readonly [number, number]>
  readonly impossible: number
}

type Row = readonly [number, string, string, number, string, number, number, ReadonlyArray<number>]

/** Id, number, name, rank, unit, share of foods, share of zeros, amounts at 10, 25, 50, 75, 90, 95, 99 and 100 %. */
const rows: ReadonlyArray<Row> = [
  [1003, "203", "Protein", 600, "g", 0.9786, 0.2415, [0, 0.43, 4.65, 10.6, 20, 25, 42.9, 750]],
  [1004, "204", "Total lipid (fat)", 800, "g", 0.9696, 0.2868, [0, 0, 6, 20, 33.3, 46.4, 93.3, 1900]],
  [1005, "205", "Carbohydrate, by difference", 1110, "g", 0.9737, 0.1034, [0, 6.67, 23.3, 58.8, 75.6, 83.3, 100, 2000]],
  [1007, "207", "Ash", 1000, "g", 0.0095, 0.0851, [0.01, 0.63, 1.84, 3.7, 6.7, 7.85, 98.4, 98.4]],
  [1008, "208", "Energy", 300, "kcal", 0.9682, 0.0439, [33, 92, 267, 400, 513, 571, 857, 26000]],
  [1051, "255", "Water", 100, "g", 0.0132, 0.0615, [0.69, 7.57, 51, 75, 84.6, 92, 99.1, 99.1]],
  [1079, "291", "Fiber, total dietary", 1200, "g", 0.825, 0.3586, [0, 0, 1.5, 3.6, 7.1, 10.7, 24.4, 100]],
  [1082, "295", "Fiber, soluble", 1240, "g", 0.0103, 0.3137, [0, 0, 2, 3, 4, 5, 13, 13]],
  [1084, "297", "Fiber, insoluble", 1260, "g", 0.0103, 0.2941, [0, 0, 3, 5, 10, 17, 22, 22]],
  [1086, "299", "Total sugar alcohols", 999999, "g", 0.0117, 0.2414, [0, 2, 10, 18, 67, 100, 125, 125]],
  [1087, "301", "Calcium, Ca", 5300, "mg", 0.8168, 0.2956, [0, 0, 36, 104, 200, 444, 833, 6250]],
  [1089, "303", "Iron, Fe", 5400, "mg", 0.8153, 0.301, [0, 0, 0.96, 2.4, 3.93, 6, 18.8, 5350]],
  [1090, "304", "Magnesium, Mg", 5500, "mg", 0.0405, 0.075, [3, 12.4, 42, 133, 262, 323, 657, 1250]],
  [1091, "305", "Phosphorus, P", 5600, "mg", 0.0413, 0.0588, [18, 88, 179, 294, 500, 536, 1530, 4380]],
  [1092, "306", "Potassium, K", 5700, "mg", 0.4328, 0.1198, [0, 80, 176, 304, 567, 800, 1600, 7000]],
  [1093, "307", "Sodium, Na", 5800, "mg", 0.9739, 0.1478, [0, 35, 251, 562, 978, 1610, 8670, 44100]],
  [1095, "309", "Zinc, Zn", 5900, "mg", 0.0354, 0.0629, [0.07, 0.63, 1.9, 5, 8.33, 11.4, 25, 131]],
  [1098, "312", "Copper, Cu", 6000, "mg", 0.0241, 0.1176, [0, 0.046, 0.129, 0.796, 1.43, 1.79, 4.29, 6.25]],
  [1101, "315", "Manganese, Mn", 6100, "mg", 0.0207, 0.2941, [0, 0, 0.148, 2, 2.32, 4, 6, 8]],
  [1103, "317", "Selenium, Se", 6200, "µg", 0.0153, 0.1579, [0, 3, 9.5, 25.2, 52, 88, 700, 700]],
  [1104, "318", "Vitamin A, IU", 7500, "IU", 0.4354, 0.5609, [0, 0, 0, 357, 1070, 2080, 8000, 8570000]],
  [1105, "319", "Retinol", 7430, "µg", 0.0081, 0.425, [0, 0, 6, 63, 159, 207, 228, 228]],
  [1106, "320", "Vitamin A, RAE", 7420, "µg", 0.0079, 0.2564, [0, 0, 10, 60, 161, 207, 232, 232]],
  [
    1109,
    "323",
    "Vitamin E (alpha-tocopherol)",
    7905,
    "mg",
    0.0083,
    0.0732,
    [0.11, 0.29, 0.78, 1.65, 9, 12, 18.3, 18.3]
  ],
  [1110, "324", "Vitamin D (D2 + D3), International Units", 8650, "IU", 0.3029, 0.879, [0, 0, 0, 0, 17, 42, 258, 6000]],
  [1114, "328", "Vitamin D (D2 + D3)", 8700, "µg", 0.0461, 0.8421, [0, 0, 0, 0, 1, 2, 5, 7]],
  [1162, "401", "Vitamin C, total ascorbic acid", 6300, "mg", 0.4765, 0.632, [0, 0, 0, 4, 20.8, 35.3, 153, 1460]],
  [1165, "404", "Thiamin", 6400, "mg", 0.0614, 0.4983, [0, 0, 0.005, 1, 1, 1, 5, 8]],
  [1166, "405", "Riboflavin", 6500, "mg", 0.0597, 0.0542, [0.047, 0.152, 0.304, 0.455, 0.911, 1.49, 5.86, 10.6]],
  [1167, "406", "Niacin", 6600, "mg", 0.0652, 0.0373, [0.339, 2.02, 4.21, 7.14, 13.3, 17.9, 100, 125]],
  [1170, "410", "Pantothenic acid", 6700, "mg", 0.0184, 0.1429, [0, 0.208, 0.61, 1.43, 6.38, 16.1, 62.5, 62.5]],
  [1175, "415", "Vitamin B-6", 6800, "mg", 0.0421, 0.0721, [0.033, 0.083, 0.295, 0.769, 1.79, 6.45, 10, 25]],
  [1177, "417", "Folate, total", 6900, "µg", 0.0322, 0.1069, [0, 17, 61, 169, 222, 364, 1380, 2000]],
  [1178, "418", "Vitamin B-12", 7300, "µg", 0.0346, 0.1754, [0, 0.16, 0.75, 2.93, 7.06, 23.6, 162, 205]],
  [1185, "430", "Vitamin K (phylloquinone)", 8800, "µg", 0.0142, 0.2286, [0, 0.3, 6.2, 24, 111, 147, 250, 250]],
  [1186, "431", "Folic acid", 7000, "µg", 0.0268, 0.25, [0, 8, 63, 145, 205, 288, 398, 625]],
  [1187, "432", "Folate, food", 7100, "µg", 0.0079, 0.1538, [0, 3, 8, 19, 37, 42, 103, 103]],
  [1190, "435", "Folate, DFE", 7200, "µg", 0.0077, 0.1316, [0, 6, 21, 62, 94, 115, 200, 200]],
  [1235, "539", "Sugars, added", 1540, "g", 0.2555, 0.2203, [0, 0.8, 9.6, 28.6, 50, 61.1, 86.7, 110]],
  [1253, "601", "Cholesterol", 15700, "mg", 0.8299, 0.5742, [0, 0, 0, 26, 71, 100, 179, 87000]],
  [1257, "605", "Fatty acids, total trans", 15400, "g", 0.8244, 0.9754, [0, 0, 0, 0, 0, 0, 0.61, 12.5]],
  [1258, "606", "Fatty acids, total saturated", 9700, "g", 0.8485, 0.3465, [0, 0, 2.11, 7.14, 14.3, 18.4, 28.2, 350]],
  [1259, "607", "SFA 4:0", 9800, "g", 0.0075, 0.5405, [0, 0, 0, 0.028, 0.098, 0.349, 0.695, 0.695]],
  [1260, "608", "SFA 6:0", 9900, "g", 0.0079, 0.5641, [0, 0, 0, 0.022, 0.246, 0.367, 0.594, 0.594]],
  [1261, "609", "SFA 8:0", 10000, "g", 0.0077, 0.5263, [0, 0, 0, 0.017, 0.145, 3.76, 4.52, 4.52]],
  [1262, "610", "SFA 10:0", 10100, "g", 0.0077, 0.3421, [0, 0, 0.011, 0.072, 0.332, 3.29, 3.59, 3.59]],
  [1263, "611", "SFA 12:0", 10300, "g", 0.0083, 0.2439, [0, 0.001, 0.014, 0.1, 0.391, 1.01, 44.7, 44.7]],
  [1264, "612", "SFA 14:0", 10500, "g", 0.0083, 0.0976, [0.002, 0.009, 0.087, 0.422, 2.27, 3.34, 14.1, 14.1]],
  [1265, "613", "SFA 16:0", 10700, "g", 0.0085, 0.0952, [0.014, 0.282, 1.32, 3.49, 7.37, 7.66, 23, 23]],
  [1266, "614", "SFA 18:0", 10900, "g", 0.0085, 0.0952, [0.004, 0.064, 0.421, 1.01, 3.34, 4.48, 15.2, 15.2]],
  [1268, "617", "MUFA 18:1", 12100, "g", 0.0077, 0.1053, [0, 0.274, 1.91, 3.56, 7.11, 21.5, 40.9, 40.9]],
  [1269, "618", "PUFA 18:2", 13100, "g", 0.0081, 0.125, [0, 0.168, 0.781, 1.91, 4.21, 5.45, 9.7, 9.7]],
  [1270, "619", "PUFA 18:3", 13900, "g", 0.0077, 0.1842, [0, 0.007, 0.06, 0.182, 0.652, 0.855, 1.1, 1.1]],
  [1271, "620", "PUFA 20:4", 14700, "g", 0.0075, 0.3784, [0, 0, 0.004, 0.033, 0.07, 0.139, 1.34, 1.34]],
  [1272, "621", "PUFA 22:6 n-3 (DHA)", 15300, "g", 0.0075, 0.7297, [0, 0, 0, 0.001, 0.03, 0.539, 12.4, 12.4]],
  [1275, "626", "MUFA 16:1", 11700, "g", 0.0075, 0.1892, [0, 0.015, 0.052, 0.186, 0.4, 3.1, 18.9, 18.9]],
  [1276, "627", "PUFA 18:4", 14250, "g", 0.0075, 0.8919, [0, 0, 0, 0, 0.001, 0.057, 1.22, 1.22]],
  [1277, "628", "MUFA 20:1", 12400, "g", 0.0075, 0.2973, [0, 0, 0.012, 0.03, 0.072, 0.093, 4.85, 4.85]],
  [1278, "629", "PUFA 20:5 n-3 (EPA)", 15000, "g", 0.0075, 0.7027, [0, 0, 0, 0.001, 0.01, 0.2, 9.71, 9.71]],
  [1280, "631", "PUFA 22:5 n-3 (DPA)", 15200, "g", 0.0075, 0.5946, [0, 0, 0, 0.003, 0.015, 0.095, 5.61, 5.61]],
  [
    1292,
    "645",
    "Fatty acids, total monounsaturated",
    11400,
    "g",
    0.1371,
    0.2422,
    [0, 0.2, 3.03, 8.62, 23.3, 40, 66.7, 78.6]
  ],
  [
    1293,
    "646",
    "Fatty acids, total polyunsaturated",
    12900,
    "g",
    0.1375,
    0.2651,
    [0, 0, 1.85, 5.77, 15, 25, 57.1, 64.3]
  ],
  [2000, "269", "Total Sugars", 1510, "g", 0.9283, 0.2018, [0, 1.23, 5.41, 23.5, 47.8, 62.5, 88.3, 1000]],
  [1062, "268", "Energy", 400, "kJ", 0, 0.04, [140, 385, 1120, 1670, 2150, 2390, 3590, 109000]],
  [1063, "269.3", "Sugars, Total", 1500, "g", 0, 0.2, [0, 1.23, 5.41, 23.5, 47.8, 62.5, 88.3, 100]],
  [2047, "957", "Energy (Atwater General Factors)", 280, "kcal", 0, 0.04, [33, 92, 267, 400, 513, 571, 857, 900]],
  [2048, "958", "Energy (Atwater Specific Factors)", 290, "kcal", 0, 0.04, [33, 92, 267, 400, 513, 571, 857, 900]]
]

const shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]

export const nutrients: ReadonlyArray<Nutrient> = rows.map(([id, number, name, rank, unit, share, zeros, amounts]) => {
  const positive = shares.flatMap((at, i): Array<readonly [number, number]> => {
    const amount = amounts[i] ?? 0
    return at > zeros && amount > 0 ? [[at, amount]] : []
  })
  const minimum = (positive[0]?.[1] ?? 1) / 4
  return {
    id,
    number,
    name,
    rank,
    unit,
    share,
    zeros,
    points: [[zeros, minimum], ...positive],
    impossible: amounts[7] ?? 0
  }
})

const byId = new Map(nutrients.map((nutrient) => [nutrient.id, nutrient]))
export const findNutrient = (id: number) => {
  const found = byId.get(id)
  if (!found) throw new Error(`No nutrient ${id} in the generator's list`)
  return found
}

export interface Derivation {
  readonly id: number
  readonly code: string
  readonly description: string
}

export const derivations: ReadonlyArray<Derivation> = [
  { id: 70, code: "LCCS", description: "Calculated from value per serving size measure" },
  { id: 75, code: "LCCD", description: "Calculated from a daily value percentage per serving size measure" },
  { id: 71, code: "LCSA", description: "Calculated from an approximate value per serving size measure" },
  { id: 73, code: "LCSL", description: "Calculated from a less than value per serving size measure" },
  { id: 78, code: "LCGA", description: "Given by information provider as an approximate value per 100 unit measure" },
  { id: 72, code: "LCSE", description: "Calculated from an exact value per serving size measure" },
  { id: 77, code: "LCGE", description: "Given by information provider as an exact value per 100 unit measure" },
  { id: 79, code: "LCGL", description: "Given by information provider as a less than value per 100 unit measure" },
  { id: 74, code: "LCSG", description: "Calculated from a greater than value per serving size measure" }
]
export const fromDailyValue = 1
