/**
 * Releases of branded foods with an invalid field: at most its own row is rejected, the fault is reported, and all other rows
 * are loaded.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aLabel, csvText, type Row, toCsvRows, writeCsv } from "../support/label-releases.ts"
import { ingest, recordsOf } from "./branded-foods.ts"
import { makeTestFolder, parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, jsonRelease, recordOf } from "./small-releases.ts"

const loadRelease = async (home: string, release: string) => {
  const end = await ingest(home, release)
  if (end.code !== 0) throw new Error(end.stderr)
  const run = parseRunRecord(end)
  expect(Number(run.rows_loaded) + Number(run.rows_unchanged) + Number(run.rows_rejected)).toBe(run.rows_read)
  return { run, stderr: end.stderr }
}

const formatRejects = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(
    home,
    "select feed, position::integer as position, reason from ingest.reject order by feed, position"
  )
  return rows.map(({ feed, position, reason }) => `${String(feed).replace("gov-fdc/", "")} ${position}: ${reason}`)
}

describe("a CSV release with invalid fields", () => {
  const channels = ["", '["GROCERY","DRUG"]', "GROCERY", '{"a":1}', '["GROCERY"', '[{"a":1}]', "[]"]
  const types = ["branded_food", "Branded", " BRANDED_FOOD ", "", "foundation_food", "sr_legacy_food"]
  const derivations = ["70", "70.0", "1.5", "-70", "LCCS"]
  const ids = { channel: 101, type: 201, derivation: 301, other: 401 }

  const labelsFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) =>
      aLabel({
        fdc_id: first + index,
        description: `FOOD ${first + index}`,
        gtin_upc: "059642932491",
        nutrients: [{ nutrient_id: 1003, amount: "10" }]
      })
    )
  const setColumn = (rows: ReadonlyArray<Row>, first: number, column: string, values: ReadonlyArray<string>) =>
    rows.map((row) => ({ ...row, [column]: values[Number(row.fdc_id) - first] ?? row[column] ?? "" }))

  const folder = temporaryFolder()
  const home = path.join(folder, "home")
  let rejects: ReadonlyArray<string> = []
  let end: Awaited<ReturnType<typeof loadRelease>>

  beforeAll(async () => {
    const release = path.join(folder, "FoodData_Central_branded_food_csv_2026-04-30")
    const rows = toCsvRows([
      ...labelsFrom(ids.channel, channels.length),
      ...labelsFrom(ids.type, types.length),
      ...labelsFrom(ids.derivation, derivations.length),
      ...labelsFrom(ids.other, 1)
    ])
    writeCsv(release, {
      ...rows,
      food: setColumn(setColumn(rows.food, ids.type, "data_type", types), ids.other, "data_type", ["foundation_food"]),
      branded_food: setColumn(rows.branded_food, ids.channel, "trade_channel", channels).filter(
        (row) => row.fdc_id !== String(ids.other)
      ),
      food_nutrient: setColumn(rows.food_nutrient, ids.derivation, "derivation_id", derivations)
    })
    const nutrient = (id: string, name: string): Row => ({ id, name, unit_name: "MG", nutrient_nbr: "", rank: "" })
    writeFileSync(
      path.join(release, "nutrient.csv"),
      csvText([nutrient("90001", "New"), nutrient("90002.5", "Nearly 90003"), nutrient("-5", "Below 0")])
    )
    const derivation = (id: string, code: string): Row => ({ id, code, description: "Made up", source_id: "1" })
    writeFileSync(
      path.join(release, "food_nutrient_derivation.csv"),
      csvText([derivation("99", "LCNW"), derivation("70", "OTHER"), derivation("98.5", "NEARLY"), derivation("97", "")])
    )
    end = await loadRelease(home, release)
    rejects = await formatRejects(home)
  })
  afterAll(() => removeFolder(folder))

  it("loads all labels except the seven that are rejected", async () => {
    const rejectedIds = [103, 104, 105, 106, 205, 206, 401]
    const all = [...channels.keys(), ...types.keys(), ...derivations.keys()].length
    expect(all).toBe(18)
    expect(await foodsIn(home)).toEqual(
      [101, 102, 103, 104, 105, 106, 107, 201, 202, 203, 204, 205, 206, 301, 302, 303, 304, 305].filter(
        (id) => !rejectedIds.includes(id)
      )
    )
  })

  it.each([
    [103, 4, "GROCERY"],
    [104, 5, '{"a":1}'],
    [105, 6, '["GROCERY"'],
    [106, 7, '[{"a":1}]']
  ])(
    "rejects a label whose trade channels are not a JSON array of strings, in each of three files: %i",
    (_, position, text) => {
      const reason = `its label was rejected: trade_channel in branded_food.csv is "${text}", which is not a JSON array of strings`
      for (const file of ["food", "branded_food", "food_nutrient"]) {
        expect(rejects).toContain(`csv/${file}.csv ${position}: ${reason}`)
      }
    }
  )

  it("reads the trade channels of the other labels", async () => {
    const [rows] = await query(
      home,
      "select trade_channels::varchar as channels from branded_food.food where fdc_id < 200"
    )
    expect(rows?.map(({ channels }) => channels)).toEqual(["[]", "[DRUG, GROCERY]", "[]"])
  })

  it("accepts branded_food in several spellings, and rejects labels of a different type in food.csv", () => {
    const typeRejects = rejects.filter((reject) => reject.includes("data_type in food.csv is"))
    const reason = (type: string) => `its label was rejected: data_type in food.csv is "${type}", not branded_food`
    expect(typeRejects).toEqual(
      ["branded_food", "food", "food_nutrient"].flatMap((file) => [
        `csv/${file}.csv 13: ${reason("foundation_food")}`,
        `csv/${file}.csv 14: ${reason("sr_legacy_food")}`
      ])
    )
  })

  it("does not reject foods of other kinds that only food.csv and food_nutrient.csv contain", () => {
    expect(end.run.rows_unchanged).toBe(2)
    expect(end.run.rows_rejected).toBe(rejects.length)
    expect(rejects.length).toBe((4 + 2) * 3)
  })

  it("treats a derivation that is not a whole number as missing", async () => {
    const [rows] = await query(
      home,
      "select derivation_id from branded_food.nutrient_amount where fdc_id between 301 and 305 order by fdc_id"
    )
    expect(rows?.map(({ derivation_id }) => derivation_id)).toEqual([70, 70, null, null, null])
  })

  it("adds nutrients and derivations from its dictionaries when their ids are whole numbers", async () => {
    const [nutrients, derived] = await query(
      home,
      "select nutrient_id, name, unit from branded_food.nutrient where nutrient_id < 1000 or nutrient_id > 90000",
      "select derivation_id, derivation from branded_food.derivation where derivation_id in (70, 97, 98, 99) order by all"
    )
    expect(nutrients).toEqual([{ nutrient_id: 90001, name: "New", unit: "mg" }])
    expect(derived).toEqual([
      { derivation_id: 70, derivation: "LCCS" },
      { derivation_id: 99, derivation: "LCNW" }
    ])
  })

  it("warns with the position of the first rejected record", () => {
    expect(end.stderr).toContain('"first":"record 4: its label was rejected: trade_channel')
  })
})

describe("a CSV release with unusable dictionaries", () => {
  /** Loads a release of one label with these faulty dictionaries. */
  const loadWith = async (dictionaries: Readonly<Record<string, string>>) => {
    const folder = makeTestFolder()
    const home = path.join(folder, "home")
    const release = path.join(folder, "FoodData_Central_branded_food_csv_2026-04-30")
    const rows = toCsvRows([aLabel({ fdc_id: 1, nutrients: [{ nutrient_id: 1003, amount: "10" }] })])
    writeCsv(release, { ...rows, food_nutrient: rows.food_nutrient.map((row) => ({ ...row, derivation_id: "1.5" })) })
    for (const [file, content] of Object.entries(dictionaries)) writeFileSync(path.join(release, file), content)
    const { run, stderr } = await loadRelease(home, release)
    expect(run).toMatchObject({ rows_read: 3, rows_loaded: 3, rows_rejected: 0 })
    return { home, stderr }
  }

  it("is loaded with warnings about an empty dictionary and a header that does not end", async () => {
    const { home, stderr } = await loadWith({
      "food_nutrient_derivation.csv": "",
      "nutrient.csv": `"id${"x".repeat(70_000)}`
    })
    expect(stderr).toMatch(/the file is empty/)
    expect(stderr).toMatch(/does not end within 65536 bytes/)
    const [amounts] = await query(home, "select derivation_id from branded_food.nutrient_amount")
    expect(amounts).toEqual([{ derivation_id: null }]) // 1.5 is not an id
  })

  it("is loaded with warnings about a missing column, and one that counts the broken records", async () => {
    const { stderr } = await loadWith({
      "food_nutrient_derivation.csv": '"id","nm"\n"1","x"\n',
      "nutrient.csv": '"id","name","unit_name"\n"90001","5" pipe","MG"\n'
    })
    expect(stderr).toMatch(/the header has no column \\"code\\"/)
    expect(stderr).toMatch(/records of a dictionary cannot be read.*"nutrient\.csv","records":1/)
  })
})

const loadJson = async (home: string, lines: ReadonlyArray<string>) => {
  mkdirSync(home)
  const file = path.join(home, "release.json")
  writeFileSync(file, jsonRelease(lines))
  return await loadRelease(home, file)
}

describe("a JSON release with invalid fields", () => {
  const folder = temporaryFolder()
  const home = path.join(folder, "home")
  const nestedTexts = [
    ["description", { description: {} }, "description is not a string"],
    ["brandOwner", { brandOwner: { name: "" } }, "brandOwner is not a string"],
    ["tradeChannels", { tradeChannels: ["DRUG", ["A"]] }, "tradeChannels[1] is not a string"],
    ["foodAttributes", { foodAttributes: [{ name: "A", value: {} }] }, "foodAttributes[0].value is not a string"]
  ] as const
  /** Larder's dictionary has no number for it. */
  const unnumbered = { id: 2067, number: "960", name: "Vitamin A, RAE", unitName: "UG" }
  const similar = { ingredients: "[2 EGGS]", footnote: "{}" }
  const duplicates = Array.from({ length: 1101 }, (_, index) =>
    recordOf(1000 + index).replace("{", '{"description":"FIRST",')
  )
  beforeAll(() =>
    loadJson(home, [
      recordOf(1, { gpcClassCode: 50161800 }),
      recordOf(2, { gpcClassCode: "50161800.0" }),
      recordOf(3, { gpcClassCode: "050161800" }),
      recordOf(4, { gpcClassCode: "n/a" }),
      recordOf(5, { gpcClassCode: 50161800.5 }),
      recordOf(6, { gpcClassCode: "" }),
      recordOf(7, { labelNutrients: { fat: { value: 1.5 }, calories: { value: "abc" } } }),
      recordOf(8, { labelNutrients: { fat: { value: 1.5 }, calories: { value: "" } } }),
      recordOf(9, { foodNutrients: [{ id: "abc", nutrient: { id: 1003 }, amount: 1 }] }),
      ...nestedTexts.map(([, fields], index) => recordOf(10 + index, fields)),
      recordOf(20, similar),
      recordOf(21, { foodNutrients: [{ id: 1, nutrient: unnumbered, amount: 5 }] }),
      ...duplicates
    ])
  )
  afterAll(() => removeFolder(folder))

  it("reads a GPC class from a number or a text, and flags one that is not a whole number", async () => {
    const [rows] = await query(
      home,
      `select gpc_class_code as code, list_contains(quality_flags, 'gpc_class_unreadable') as flagged
       from branded_food.food where fdc_id <= 6 order by fdc_id`
    )
    const read = { code: 50_161_800, flagged: false }
    const unreadable = { code: null, flagged: true }
    expect(rows).toEqual([read, read, read, unreadable, unreadable, { code: null, flagged: false }])
  })

  it("rejects label nutrients and nutrient ids that are not numbers", async () => {
    expect((await formatRejects(home)).slice(0, 2)).toEqual([
      'json 8: labelNutrients.calories is "abc", which is not a number',
      "json 10: foodNutrients[0].id is not a number"
    ])
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5, 6, 8, 20, 21])
  })

  it("rejects each of 1,101 records that state a key twice", async () => {
    const duplicateRejects = (await formatRejects(home)).slice(2 + nestedTexts.length)
    expect(duplicateRejects).toEqual(
      duplicates.map((_, index) => `json ${17 + index}: the record has a duplicate key "description"`)
    )
  })

  it.each(nestedTexts.map(([field, , reason], index) => [field, 11 + index, reason] as const))(
    "rejects an object in place of a text: %s",
    async (_, position, reason) => {
      expect(await formatRejects(home)).toContain(`json ${position}: ${reason}`)
    }
  )

  it("returns the nutrient number of the release if the dictionary has none", async () => {
    const [record] = await recordsOf(home, [21])
    expect(record?.nutrients).toEqual([{ nutrient_id: 2067, number: "960", name: "Vitamin A", unit: "µg", amount: 5 }])
  })

  it("keeps a text that looks like an object", async () => {
    const [rows] = await query(home, "select ingredients, footnote from branded_food.food where fdc_id = 20")
    expect(rows).toEqual([similar])
  })
})
