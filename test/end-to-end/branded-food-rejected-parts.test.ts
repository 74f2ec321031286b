/**
 * Labels of which a part cannot be read, in either form: a known label keeps what it had, a new one lacks the part, and a flag
 * says so. A later release without the fault replaces everything.
 */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aLabel, type Form, forms, type Label, toCsvRows, writeCsv, writeJson } from "../support/label-releases.ts"
import { recordsOf } from "./branded-foods.ts"
import { query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { load } from "./small-releases.ts"

/** An amount that is replaced by `10 g` in the file. */
const unreadable = "777"

const amounts = (stated: Readonly<Record<number, string>>) =>
  Object.entries(stated).map(([id, amount]) => ({ nutrient_id: Number(id), amount }))

const label = (stated: Partial<Label> & Pick<Label, "fdc_id">) =>
  aLabel({
    gtin_upc: "059642932491",
    serving_size: "50",
    serving_size_unit: "g",
    ingredients: "OATS",
    nutrients: amounts({ 1003: "10", 1004: "5", 1008: "950", 1093: "100" }),
    ...stated
  })

/** Many labels without faults, so that the others are less than 2 % of all. */
const others = Array.from({ length: 200 }, (_, index) => label({ fdc_id: 1000 + index, gtin_upc: "" }))

const releases: Readonly<Record<string, ReadonlyArray<Label>>> = {
  "2026-01-01": [
    label({ fdc_id: 1, attributes: [{ name: "Added", value: "earlier" }] }),
    label({ fdc_id: 3, gtin_upc: "" })
  ],
  "2026-02-01": [
    label({ fdc_id: 1, nutrients: amounts({ 1003: unreadable, 1004: "6", 1008: unreadable, 999999: "3" }) }),
    label({ fdc_id: 2, gtin_upc: "", nutrients: amounts({ 1003: unreadable, 1004: "6" }) }),
    label({ fdc_id: 3, gtin_upc: "" })
  ],
  "2026-03-01": [
    label({ fdc_id: 1, nutrients: amounts({ 1003: "11", 1004: "6" }) }),
    label({ fdc_id: 2, gtin_upc: "" }),
    label({ fdc_id: 3, gtin_upc: "" })
  ]
}

/** Writes a release, loads it, and returns the run's exit code. */
const loadDay = async (home: string, form: Form, day: string, change = (_file: string) => {}) => {
  const name = `FoodData_Central_branded_food_${form}_${day}`
  const release = path.join(home, form === "json" ? `${name}.json` : name)
  const labels = [...(releases[day] ?? []), ...others]
  if (form === "json") writeJson(release, labels)
  else writeCsv(release, toCsvRows(labels))
  const file = form === "json" ? release : path.join(release, "food_nutrient.csv")
  const text = readFileSync(file, "utf8")
  writeFileSync(
    file,
    form === "json" ? text.replaceAll(`:${unreadable}`, ':"10 g"') : text.replaceAll(unreadable, "10 g")
  )
  change(release)
  const { code, stderr } = await load(home, release)
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`)
}

const stateOf = async (home: string) => {
  const [rows] = await query(
    home,
    `select fdc_id, quality_flags as flags,
       list_transform(nutrients, lambda n: n.nutrient_id || ': ' || n.amount::double::integer) as nutrients
     from branded_food.food where fdc_id <= 3 order by fdc_id`
  )
  return rows
}

const whole = ["1003: 10", "1004: 5", "1008: 950", "1093: 100"]
const noBarcode = ["gtin_missing", "energy_impossible"]

describe.each(forms)("amounts of a %s release that cannot be read", (form) => {
  const home = temporaryFolder()
  beforeAll(async () => {
    await loadDay(home, form, "2026-01-01")
    await loadDay(home, form, "2026-02-01")
  })
  afterAll(() => removeFolder(home))

  it("keep their earlier values if the label is known, with the flags of these; the others are replaced", async () => {
    expect((await stateOf(home))?.[0]).toEqual({
      fdc_id: 1,
      flags: ["part_rejected", "energy_impossible"],
      nutrients: ["1003: 10", "1004: 6", "1008: 950", "1093: 100"]
    })
    const [attributes] = await query(home, "select attributes::varchar as kept from branded_food.food where fdc_id = 1")
    expect(attributes?.[0]?.kept).toContain("earlier")
  })

  it("are missing from a new label, in the warehouse and in the API, and a flag says so", async () => {
    expect((await stateOf(home))?.[1]).toEqual({
      fdc_id: 2,
      flags: ["gtin_missing", "part_rejected"],
      nutrients: ["1004: 6"]
    })
    const [record] = await recordsOf(home, [2])
    expect(record?.nutrition).toEqual({ fat: 3 })
  })

  it("are rejected alone, each with its label", async () => {
    const [rejects] = await query(
      home,
      "select reason, payload from ingest.reject where pipeline = 'branded-foods' order by payload, reason"
    )
    expect(rejects?.map(({ reason }) => String(reason).replace(/^foodNutrients\[\d\]\./, "")).sort()).toEqual([
      'amount is "10 g", which is not a number',
      'amount is "10 g", which is not a number',
      'amount is "10 g", which is not a number',
      expect.stringMatching(/^nutrient[_.]id is "999999", which is not/)
    ])
    for (const reject of rejects ?? []) expect(reject.payload).toMatch(/"fdc_?[iI]d":"?[12]\b/)
  })

  it("are replaced, and the flag goes, with the next release that can be read", async () => {
    await loadDay(home, form, "2026-03-01")
    expect(await stateOf(home)).toEqual([
      { fdc_id: 1, flags: [], nutrients: ["1003: 11", "1004: 6"] },
      { fdc_id: 2, flags: noBarcode, nutrients: whole },
      { fdc_id: 3, flags: noBarcode, nutrients: whole }
    ])
  })
})

describe("a row of branded_food.csv that cannot be read", () => {
  const breakRow = (id: number) => (release: string) => {
    const file = path.join(release, "branded_food.csv")
    const lines = readFileSync(file, "utf8").split("\n")
    writeFileSync(file, lines.map((line) => (line.startsWith(`"${id}"`) ? `${line}"x` : line)).join("\n"))
  }

  it("keeps the earlier values of a known label, and the flag names the row, not a missing barcode", async () => {
    const home = temporaryFolder()
    try {
      await loadDay(home, "csv", "2026-01-01")
      await loadDay(home, "csv", "2026-03-01", breakRow(1))
      const [rows] = await query(
        home,
        "select upc, serving_size::double as serving_size, quality_flags as flags from branded_food.food where fdc_id = 1"
      )
      expect(rows).toEqual([{ upc: "059642932491", serving_size: 50, flags: ["part_rejected", "energy_impossible"] }])
    } finally {
      removeFolder(home)
    }
  })

  it("leaves a new label with its name and amounts, flagged, and not as one without a barcode", async () => {
    const home = temporaryFolder()
    try {
      await loadDay(home, "csv", "2026-03-01", breakRow(2))
      expect((await stateOf(home))?.[1]).toEqual({
        fdc_id: 2,
        flags: ["energy_impossible", "label_row_missing", "part_rejected"],
        nutrients: whole
      })
    } finally {
      removeFolder(home)
    }
  })
})

describe("a row of food_nutrient.csv of which the fdc_id cannot be read", () => {
  const breakRows = (release: string) => {
    const file = path.join(release, "food_nutrient.csv")
    const broken = readFileSync(file, "utf8")
      .replace('"201","2","1004"', '"201","x","1004"')
      .replace('"300","3","1003"', '"300"x,"3.0","1003"')
    writeFileSync(file, broken)
  }

  it("belongs to the label of the rows around it, or to the id in what is left of it", async () => {
    const home = temporaryFolder()
    try {
      await loadDay(home, "csv", "2026-03-01", breakRows)
      const flags = [...noBarcode, "part_rejected"]
      expect(await stateOf(home)).toEqual([
        { fdc_id: 1, flags: [], nutrients: ["1003: 11", "1004: 6"] },
        { fdc_id: 2, flags, nutrients: whole.filter((amount) => !amount.startsWith("1004")) },
        { fdc_id: 3, flags, nutrients: whole.slice(1) }
      ])
    } finally {
      removeFolder(home)
    }
  })
})
