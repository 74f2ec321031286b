/**
 * Releases of branded foods with an invalid field. A key or a substance that cannot be read costs at most its own row; an
 * optional field costs none, and what it said is kept.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aLabel, csvText, type Row, toCsvRows, writeCsv } from "../support/label-releases.ts"
import { recordOf } from "../support/pipelines/small-releases.ts"
import { recordsOf } from "./branded-foods.ts"
import { makeTestFolder, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { formatRejects, loadJson, loadRelease, readOddValues } from "./invalid-fields.ts"
import { foodsIn } from "./small-releases.ts"

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

  it("loads all labels, but no food of another kind", async () => {
    const idsFrom = (first: number, values: ReadonlyArray<string>) => values.map((_, index) => first + index)
    expect(await foodsIn(home)).toEqual([
      ...idsFrom(ids.channel, channels),
      ...idsFrom(ids.type, types),
      ...idsFrom(ids.derivation, derivations)
    ])
  })

  it("reads trade channels from a JSON array of strings, or from a code, and flags anything else", async () => {
    const [rows] = await query(
      home,
      `select coalesce(trade_channels::varchar, 'null') as channels, quality_flags::varchar as flags
       from branded_food.food where fdc_id < 200 order by fdc_id`
    )
    const unreadable = { channels: "null", flags: "[trade_channels_unreadable]" }
    const read = (list: string) => ({ channels: list, flags: "[]" })
    expect(
      rows?.map(({ channels, flags }) => ({ channels, flags: String(flags).replace(/\w*country\w*,? ?/g, "") }))
    ).toEqual([read("[]"), read("[DRUG, GROCERY]"), read("[GROCERY]"), unreadable, unreadable, unreadable, read("[]")])
    const records = await recordsOf(home, [104])
    expect(records[0]?.trade_channels).toEqual([])
  })

  it("keeps what optional fields said, once for each text, and logs it", async () => {
    expect(await readOddValues(home)).toEqual([
      'gov-fdc/csv unreadable: 1 × branded_food.trade_channel ["GROCERY"',
      'gov-fdc/csv unreadable: 1 × branded_food.trade_channel [{"a":1}]',
      'gov-fdc/csv unreadable: 1 × branded_food.trade_channel {"a":1}',
      "gov-fdc/csv unreadable: 1 × food.data_type foundation_food",
      "gov-fdc/csv unreadable: 1 × food.data_type sr_legacy_food",
      "gov-fdc/csv unreadable: 1 × food_nutrient.derivation_id -70",
      "gov-fdc/csv unreadable: 1 × food_nutrient.derivation_id 1.5",
      "gov-fdc/csv unreadable: 1 × food_nutrient.derivation_id LCCS"
    ])
    expect(end.stderr).toMatch(/values of optional fields were not understood.*trade_channel/)
  })

  it("does not reject foods of other kinds that only food.csv and food_nutrient.csv contain", () => {
    expect(end.run.rows_unchanged).toBe(2)
    expect(end.run.rows_rejected).toBe(0)
    expect(rejects).toEqual([])
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

describe("a JSON release with invalid fields", () => {
  const folder = temporaryFolder()
  const home = path.join(folder, "home")
  const nestedTexts = [
    ["description", { description: {} }, "description is not a string"],
    ["gtinUpc", { gtinUpc: { code: "" } }, "gtinUpc is not a string"],
    ["ingredients", { ingredients: ["SALT"] }, "ingredients is not a string"],
    ["foodNutrients", { foodNutrients: {} }, "foodNutrients is not a list"]
  ] as const
  /** Optional fields of another shape. */
  const odd = [
    { brandOwner: { name: "ACME" } },
    { tradeChannels: { code: "DRUG" } },
    { tradeChannels: ["DRUG", ["A"]] },
    {
      foodAttributes: [
        { name: "A", value: {} },
        { name: "B", value: "2" }
      ]
    },
    { foodUpdateLog: "none" },
    { discontinuedDate: ["2025-04-24"] },
    { foodAttributes: "nul\u0000h" }
  ]
  /** Larder's dictionary has no number for it. */
  const unnumbered = { id: 2067, number: "960", name: "Vitamin A, RAE", unitName: "UG" }
  const similar = { ingredients: "[2 EGGS]", footnote: "{}" }
  const duplicates = Array.from({ length: 1101 }, (_, index) =>
    recordOf(1000 + index).replace("{", '{"description":"FIRST",')
  )
  beforeAll(() =>
    loadJson(
      home,
      [
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
        ...odd.map((fields, index) => recordOf(30 + index, fields)),
        recordOf(20, similar),
        recordOf(21, { foodNutrients: [{ id: 1, nutrient: unnumbered, amount: 5 }] }),
        ...duplicates
      ],
      4
    )
  )
  afterAll(() => removeFolder(folder))

  it("loads labels with optional fields of another shape without these fields, flags them, and keeps what they said", async () => {
    const [rows] = await query(
      home,
      `select fdc_id, brand_owner, trade_channels, attributes, discontinued_on,
         list_filter(quality_flags, lambda flag: flag like '%unreadable') as quality_flags
       from branded_food.food where fdc_id between 30 and 36 order by fdc_id`
    )
    const nothing = {
      brand_owner: null,
      trade_channels: null,
      attributes: null,
      discontinued_on: null,
      quality_flags: []
    }
    const unreadable = { ...nothing, quality_flags: ["trade_channels_unreadable"] }
    expect(rows).toEqual([
      { fdc_id: 30, ...nothing },
      { fdc_id: 31, ...unreadable },
      { fdc_id: 32, ...unreadable },
      {
        fdc_id: 33,
        ...nothing,
        attributes: [
          { name: "A", value: null },
          { name: "B", value: "2" }
        ]
      },
      { fdc_id: 34, ...nothing },
      { fdc_id: 35, ...nothing, quality_flags: ["discontinued_unreadable"] },
      { fdc_id: 36, ...nothing }
    ])
    expect(await readOddValues(home)).toEqual(
      [
        'brandOwner {"name":"ACME"}',
        'discontinuedDate ["2025-04-24"]',
        "foodAttributes nul h", // a NUL is a blank
        "foodAttributes.value {}",
        "foodNutrients.id abc",
        "foodUpdateLog none",
        "gpcClassCode 50161800.5",
        'tradeChannels ["DRUG",["A"]]',
        'tradeChannels {"code":"DRUG"}'
      ].map((text) => `gov-fdc/json unreadable: 1 × ${text}`)
    )
  })

  it("reads a GPC class from a number or a text, and flags one that is not a whole number", async () => {
    const [rows] = await query(
      home,
      `select gpc_class_code as code, list_contains(quality_flags, 'gpc_class_unreadable') as flagged
       from branded_food.food where fdc_id <= 6 order by fdc_id`
    )
    const read = { code: 50_161_800, flagged: false }
    const unreadable = { code: null, flagged: true }
    const nothing = { code: null, flagged: false } // "n/a" means nothing, too
    expect(rows).toEqual([read, read, read, nothing, unreadable, nothing])
  })

  it("rejects label nutrients that are not numbers, but no label for them or for the id of a row", async () => {
    expect((await formatRejects(home)).at(-1)).toBe(
      'json/labelNutrients 8: labelNutrients.calories is "abc", which is not a number'
    )
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 21, 30, 31, 32, 33, 34, 35, 36])
  })

  it("rejects each of 1,101 records that state a key twice", async () => {
    const duplicateRejects = (await formatRejects(home)).slice(nestedTexts.length, -1)
    expect(duplicateRejects).toEqual(
      duplicates.map((_, index) => `json ${17 + odd.length + index}: the record has a duplicate key "description"`)
    )
  })

  it.each(nestedTexts.map(([field, , reason], index) => [field, 11 + index, reason] as const))(
    "rejects a key or a substance of another shape: %s",
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
