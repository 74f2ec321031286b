/**
 * Suspicious values of a label are flagged and published unchanged: tests every flag, and a label that is just within
 * the limit. Also tests the tables for analysts with labels without a barcode and with duplicate nutrients. All labels
 * are in one release of each form.
 */
import path from "node:path"
import { QualityFlagRow } from "@larder/schemas"
import { Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  type Amount,
  aLabel,
  type Form,
  forms,
  ingestFile,
  ingestLabels,
  type Label,
  toCsvRows,
  writeCsv
} from "../support/label-releases.ts"
import { recordsOf } from "./branded-foods.ts"
import { copyForTest, makeTestFolder, query, removeFolder, temporaryFolder } from "./ingesting.ts"

const amounts = (stated: Readonly<Record<number, string>>): Pick<Label, "nutrients"> => ({
  nutrients: Object.entries(stated).map(([id, amount]): Amount => ({ nutrient_id: Number(id), amount }))
})

/** A label without faults. */
const valid: Partial<Label> = {
  gtin_upc: "059642932491",
  serving_size: "50",
  serving_size_unit: "g",
  market_country: "United States",
  branded_food_category: "Cereal",
  ...amounts({ 1003: "10" })
}

/** A flag, a label with it, and a label just within the limit; then the form, if only one has the field. */
type Finding = readonly [flag: string, flagged: Partial<Label>, unflagged: Partial<Label>, onlyForm?: Form]
const findings: ReadonlyArray<Finding> = [
  ["gtin_missing", { gtin_upc: "" }, {}],
  ["gtin_unreadable", { gtin_upc: "8906004982514abf" }, { gtin_upc: "0 59642-93249 1" }],
  ["gtin_unreadable", { gtin_upc: "000059642932491" }, { gtin_upc: "00059642932491" }],
  ...["0", "000000000000", "1236", "12345", "123 4567"].map(
    (gtin_upc): Finding => ["gtin_placeholder", { gtin_upc }, { gtin_upc: "12348" }]
  ),
  ["gtin_check_digit", { gtin_upc: "059642932490" }, { gtin_upc: "96385074" }],
  ["serving_size_zero", { serving_size: "0.0" }, { serving_size: "" }],
  ["serving_unit_miscoded", { serving_size_unit: "MG" }, { serving_size_unit: "GRM" }],
  ["serving_unit_unknown", { serving_size_unit: "EA" }, { serving_size_unit: "oz" }],
  ["serving_unit_unknown", { serving_size_unit: "bag" }, { serving_size_unit: "" }],
  ["country_unknown", { market_country: "Atlantis" }, { market_country: "" }],
  ["category_unreadable", { branded_food_category: "21.99" }, { branded_food_category: "" }],
  ["gpc_class_unreadable", { gpc_class_code: "50161800.5" }, { gpc_class_code: "50161800" }, "json"],
  ["discontinued_unreadable", { discontinued_date: "9999-12-31" }, { discontinued_date: "2099-12-31" }],
  ["discontinued_unreadable", { discontinued_date: "0000-00-00" }, { discontinued_date: "N/A" }],
  ["trade_channels_unreadable", { trade_channels: ["DRUG", ["GROCERY"]] }, { trade_channels: ["GROCERY"] }],
  ["no_nutrients", { nutrients: [] }, amounts({ 1003: "0" })],
  [
    "nutrient_twice",
    { nutrients: [1008, 1003, 1008].map((nutrient_id) => ({ nutrient_id, amount: "5" })) },
    amounts({ 1003: "5", 1008: "5" })
  ],
  ["energy_impossible", amounts({ 1008: "905.1" }), amounts({ 1008: "905" })],
  [
    "mass_impossible",
    amounts({ 1003: "30", 1004: "40", 1005: "40.1" }),
    amounts({ 1003: "30", 1004: "40", 1005: "40" })
  ],
  ["amount_impossible", amounts({ 1079: "110.1" }), amounts({ 1079: "110" })],
  ["amount_impossible", amounts({ 2000: "110.1" }), amounts({ 2000: "110" })],
  ["amount_impossible", amounts({ 1253: "5000.1" }), amounts({ 1253: "5000" })],
  ["amount_impossible", amounts({ 1093: "45000.1" }), amounts({ 1093: "45000", 1087: "39000" })],
  ["amount_impossible", amounts({ 1089: "110000.1" }), amounts({ 1089: "110000" })],
  ["amount_impossible", amounts({ 1114: "110000000.1" }), amounts({ 1114: "110000000", 1104: "200000000" })],
  ["part_exceeds_whole", amounts({ 1005: "20", 2000: "22.1" }), amounts({ 1005: "20", 2000: "22" })], // 1 g of 50
  ["part_exceeds_whole", amounts({ 1005: "20", 1063: "22.1" }), amounts({ 2000: "3", 1063: "22.1" })],
  [
    "part_exceeds_whole",
    { serving_size: "250", ...amounts({ 1004: "3", 1258: "4.1" }) },
    { serving_size: "250", ...amounts({ 1004: "3", 1258: "4" }) }
  ],
  [
    "part_exceeds_whole",
    { serving_size: "2", serving_size_unit: "ONZ", ...amounts({ 1004: "3", 1258: "4.8" }) }, // 1.02 g of 56.7
    { serving_size: "2", serving_size_unit: "ONZ", ...amounts({ 1004: "3", 1258: "4.7" }) }
  ],
  [
    "part_exceeds_whole",
    { serving_size: "", ...amounts({ 1004: "3", 1258: "4.1" }) },
    { serving_size: "", ...amounts({ 1004: "3", 1258: "4" }) }
  ],
  ["amount_negative", amounts({ 1003: "-0.000001" }), amounts({ 1003: "0" })]
]
const labels = findings.flatMap(([, flagged, unflagged], index) =>
  [flagged, unflagged].map((stated, side) => aLabel({ ...valid, ...stated, fdc_id: 2 * index + side + 1 }))
)

const flagsOf = async (home: string) => {
  const [rows = []] = await query(
    home,
    "select fdc_id, string_agg(flag, ' ' order by flag) as flags from branded_food.quality_flag group by fdc_id"
  )
  return new Map(rows.map(({ fdc_id, flags }) => [Number(fdc_id), String(flags)]))
}

/** Labels without a readable barcode: the log begins with the label itself. */
const withoutBarcode = (
  [
    [1000, ""],
    [2000, "8906004982514abf"],
    [4000, "000000000000"]
  ] as const
).flatMap(([from, gtin_upc]) => {
  const [first, second, third, other] = [10, 20, 30, 40].map((id) => from + id) as [number, number, number, number]
  const update_log = [
    [third, "11/13/2020"],
    [second, "5/28/2020"],
    [first, "4/1/2019"]
  ] as const
  return [aLabel({ fdc_id: third, gtin_upc, update_log }), aLabel({ fdc_id: other, gtin_upc })]
})

const daily = (nutrient_id: number, amount: string, percent_daily_value: string): Amount => ({
  nutrient_id,
  amount,
  percent_daily_value
})
const withDailyValues = [
  aLabel({
    fdc_id: 3001,
    nutrients: [
      daily(1087, "100", "10"),
      daily(1089, "1", ""),
      daily(1087, "200", "20"),
      daily(1003, "3", ""),
      daily(1089, "2", "30")
    ]
  }),
  aLabel({ fdc_id: 3002, ...amounts({ 1003: "3", 1087: "1" }) })
]
const withUnnumberedVitamins = aLabel({
  fdc_id: 3003,
  nutrients: [2067, 2068].map((nutrient_id) => ({ nutrient_id, amount: "1" }))
})

/** The first release has these fields; the release that is reissued on its day lacks them. */
const before = { ...valid, brand_name: "WRONG", package_weight: "1 kg", trade_channels: ["GROCERY"] }
const makeReissue = (stated: Partial<Label>) => [
  aLabel({ ...before, fdc_id: 3004 }),
  aLabel({ gtin_upc: "059642932491", ...stated, fdc_id: 3005 })
]

/** Its row in branded_food.csv is missing. */
const labelWithoutRow = 3006

const homes: Record<Form, string> = { json: temporaryFolder(), csv: temporaryFolder() }
beforeAll(async () => {
  const everything = [...labels, ...withoutBarcode, ...withDailyValues, withUnnumberedVitamins, ...makeReissue(before)]
  await ingestLabels(homes.json, "json", everything)
  const rows = toCsvRows([...everything, aLabel({ ...valid, fdc_id: labelWithoutRow })])
  const folder = path.join(homes.csv, "FoodData_Central_branded_food_csv_2026-04-30")
  const branded_food = rows.branded_food.filter(({ fdc_id }) => fdc_id !== String(labelWithoutRow))
  writeCsv(folder, { ...rows, branded_food })
  await ingestFile(homes.csv, folder)
})
afterAll(() => Object.values(homes).forEach(removeFolder))

describe.each(forms)("the quality flags of a label, from the %s form", (form) => {
  it("mark a value beyond its limit with one flag, and a value within it with none", async () => {
    const found = await flagsOf(homes[form])
    const expected = findings.map(([flag, , , onlyForm = form], index) => [
      index,
      onlyForm === form ? flag : undefined,
      undefined
    ])
    expect(findings.map((_, index) => [index, found.get(2 * index + 1), found.get(2 * index + 2)])).toEqual(expected)
  })
})

/** Their tests are in other files. */
const otherFlags = ["label_row_missing", "nutrient_unit_unusable", "part_rejected"]

it("the dictionary explains all flags", () => {
  const description = Schema.resolveAnnotations(QualityFlagRow.fields.flag)?.description ?? ""
  const names = [...description.matchAll(/[a-z]+(?:_[a-z]+)+/g)].map(([name]) => name)
  expect(new Set(names)).toEqual(new Set([...findings.map(([flag]) => flag), ...otherFlags]))
})

it("flags a label that only food.csv has with label_row_missing, and no other label", async () => {
  const flags = [...(await flagsOf(homes.csv))].filter(([, found]) => found.includes("label_row_missing"))
  expect(flags).toEqual([[labelWithoutRow, "label_row_missing"]])
})

it.each([
  ["without a barcode", 1000],
  ["with a barcode that cannot be read", 2000],
  ["with zeros in place of a barcode", 4000]
])("loads a label %s with all its versions, and keeps it current", async (_, from) => {
  const [versions] = await query(
    homes.json,
    `select fdc_id - ${from} as label, version, version_count, is_current, is_loaded, replaced_by - ${from} as replaced_by
     from branded_food.version where fdc_id between ${from} and ${from + 99} order by fdc_id`
  )
  expect(versions).toEqual([
    { label: 10, version: 1, version_count: 3, is_current: false, is_loaded: false, replaced_by: 20 },
    { label: 20, version: 2, version_count: 3, is_current: false, is_loaded: false, replaced_by: 30 },
    { label: 30, version: 3, version_count: 3, is_current: true, is_loaded: true, replaced_by: null },
    { label: 40, version: 1, version_count: 1, is_current: true, is_loaded: true, replaced_by: null }
  ])
})

it("names the two vitamins that have no number, and has a comment on every macro", async () => {
  const [macros, known] = await query(
    homes.csv,
    "select function_name from duckdb_functions() where schema_name = 'branded_food' and comment is null",
    "select list(name || ' ' || unit order by name)::varchar as names from branded_food.nutrient where nutrient_id in (2067, 2068)"
  )
  expect(macros).toEqual([])
  expect(known?.[0]).toEqual({ names: "[Vitamin A µg, Vitamin E mg]" })
})

it("only the check of nutrients warns when half of the labels have none", async () => {
  const home = makeTestFolder()
  await ingestLabels(home, "csv", [withUnnumberedVitamins, aLabel({ fdc_id: 2 })])
  const [warnings] = await query(home, "select name from ingest.check_result where bad_rows > 0")
  expect(warnings).toEqual([{ name: "most_labels_have_nutrients" }])
})

describe.each(forms)("a release of the %s form that is reissued on the same day", (form) => {
  it("clears the fields that it no longer states", async () => {
    const home = copyForTest(homes[form])
    const run = await ingestLabels(home, form, makeReissue({}), "2026-04-30", "--accept-shrinkage") // few labels are current, and one loses nutrients
    expect(run).toMatchObject({ outcome: "published" })
    expect(await recordsOf(home, [3004, 3005])).toMatchObject([
      { brand_name: "WRONG", package_weight: "1 kg", trade_channels: ["GROCERY"] },
      { brand_name: null, package_weight: null, trade_channels: [], serving_size: null, nutrients: [] }
    ])
    const flags = await flagsOf(home)
    expect([flags.get(3004), flags.get(3005)]).toEqual([undefined, "no_nutrients"])
  })
})

describe("the percent of the daily value", () => {
  const rowsIn = async (home: string) => {
    const [rows = []] = await query(
      home,
      `select fdc_id || ' ' || nutrient_id || ' ' || amount::double || ' ' || coalesce(percent_daily_value::double::varchar, '-') as row
       from branded_food.nutrient_amount where fdc_id in (3001, 3002) order by fdc_id, nutrient_id, amount`
    )
    return rows.map(({ row }) => row)
  }
  const expected = [
    "3001 1003 3.0 -",
    "3001 1087 100.0 10.0",
    "3001 1087 200.0 20.0",
    "3001 1089 1.0 -",
    "3001 1089 2.0 30.0"
  ]

  it("belongs to its amount, even when a nutrient has several amounts", async () => {
    expect(await rowsIn(homes.csv)).toEqual([...expected, "3002 1003 3.0 -", "3002 1087 1.0 -"])
  })

  it("is kept from the CSV form when the JSON form has the same amounts", async () => {
    const home = copyForTest(homes.csv)
    await ingestLabels(home, "json", withDailyValues.slice(0, 1))
    expect((await rowsIn(home)).slice(0, 5)).toEqual(expected)
  })
})
