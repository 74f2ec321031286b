/**
 * Releases of branded foods with an invalid field. A key or a substance that cannot be read costs at most its own row; an
 * optional field costs none, and what it said is kept.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aLabel, csvText, ingestLabels, type Row, toCsvRows, writeCsv } from "../support/label-releases.ts"
import { ingest, recordsOf } from "./branded-foods.ts"
import { makeTestFolder, parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { foodsIn, jsonRelease, recordOf } from "./small-releases.ts"

const loadRelease = async (home: string, release: string, code = 0) => {
  const end = await ingest(home, release)
  if (end.code !== code) throw new Error(`exit code ${end.code}: ${end.stderr}`)
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

const readOddValues = async (home: string): Promise<ReadonlyArray<string>> => {
  const [rows = []] = await query(home, "select feed, kind, field, said, rows::integer as rows from ingest.odd_value")
  return rows.map(({ feed, field, kind, rows, said }) => `${feed} ${kind}: ${rows} × ${field} ${said}`).toSorted()
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

const loadJson = async (home: string, lines: ReadonlyArray<string>, code = 0) => {
  mkdirSync(home)
  const file = path.join(home, "release.json")
  writeFileSync(file, jsonRelease(lines))
  return await loadRelease(home, file, code)
}

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

  it("rejects label nutrients that are not numbers, but no label for the id of a row", async () => {
    expect((await formatRejects(home))[0]).toBe('json 8: labelNutrients.calories is "abc", which is not a number')
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5, 6, 8, 9, 20, 21, 30, 31, 32, 33, 34, 35, 36])
  })

  it("rejects each of 1,101 records that state a key twice", async () => {
    const duplicateRejects = (await formatRejects(home)).slice(1 + nestedTexts.length)
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

describe("a release whose days have times, with placeholders and unreadable optional fields", () => {
  const count = 60
  const stated = {
    gtin_upc: "059642932491",
    nutrients: [
      { nutrient_id: 1003, amount: "10", percent_daily_value: "a lot" },
      { nutrient_id: 1004, amount: "5", percent_daily_value: "-" }
    ],
    brand_owner: "NA",
    ingredients: "NULL",
    serving_size_unit: "N/A",
    branded_food_category: "--",
    package_weight: "null",
    publication_date: "2025-04-24T00:00:00",
    modified_date: "2025-04-15 00:00:00",
    available_date: "4/24/2025 12:00:00 AM",
    discontinued_date: "someday"
  }
  const labels = Array.from({ length: count }, (_, index) => aLabel({ ...stated, fdc_id: 1 + index }))
  it.each(["json", "csv"] as const)("costs no label: %s", async (form) => {
    const home = makeTestFolder()
    const { left_out } = await ingestLabels(home, form, labels)
    expect(left_out).toEqual([])
    const [rows] = await query(
      home,
      `select count(*)::integer as labels, published_on::varchar as published, modified_on::varchar as modified,
         available_on::varchar as available, discontinued_on as discontinued, brand_owner, ingredients,
         serving_size_unit, category, package_weight, quality_flags
       from branded_food.food group by all`
    )
    expect(rows).toEqual([
      {
        labels: count,
        published: "2025-04-24",
        modified: "2025-04-15",
        available: "2025-04-24",
        discontinued: null,
        brand_owner: "NA",
        ingredients: "NULL",
        serving_size_unit: null,
        category: null,
        package_weight: null,
        quality_flags: ["discontinued_unreadable"]
      }
    ])
    const odd = {
      json: ["discontinuedDate someday"],
      csv: ["branded_food.discontinued_date someday", "food_nutrient.percent_daily_value a lot"]
    }[form]
    expect(await readOddValues(home)).toEqual(odd.map((text) => `gov-fdc/${form} unreadable: ${count} × ${text}`))
  })

  it("has a warning about a field that no label states readably, and no second row for a known text", async () => {
    const home = path.join(makeTestFolder(), "home")
    const lines = labels.map(({ fdc_id }) => recordOf(fdc_id, { discontinuedDate: "someday" }))
    const { stderr } = await loadJson(home, lines)
    expect(stderr).toMatch(/no value of an optional field was understood.*"discontinuedDate","rows":60/)
    writeFileSync(path.join(home, "next.json"), jsonRelease(lines.slice(1)))
    const next = await loadRelease(home, path.join(home, "next.json"))
    expect(next.stderr).not.toContain("values of optional fields were not understood")
    expect(await readOddValues(home)).toHaveLength(1)
  })

  it("has 1,000 different texts at most, over all releases of a form", async () => {
    const home = path.join(makeTestFolder(), "home")
    const linesFrom = (first: number, days: number) =>
      Array.from({ length: 1000 }, (_, index) =>
        recordOf(1 + index, {
          ingredients: "SALT",
          ...(index < days && { discontinuedDate: `day ${first + index}` })
        })
      )
    const countTexts = "select said = '(other texts)' as other, count(*)::integer as texts, sum(rows)::integer as rows"
    const readCounts = async () =>
      (await query(home, `${countTexts} from ingest.odd_value group by all order by all`))[0]
    await loadJson(home, linesFrom(0, 998))
    expect(await readCounts()).toEqual([{ other: false, texts: 998, rows: 998 }])
    const next = path.join(home, "next.json")
    writeFileSync(next, jsonRelease(linesFrom(500, 505))) // 498 of them are known
    await loadRelease(home, next)
    expect(await readCounts()).toEqual([
      { other: false, texts: 1000, rows: 1000 },
      { other: true, texts: 1, rows: 5 }
    ])
  })

  it("keeps what codes and ids inside of lists said in JSON, but no placeholder for a list", async () => {
    const home = path.join(makeTestFolder(), "home")
    const amount = (id: number, code: unknown) => ({
      id,
      nutrient: { id: 1002 + id },
      amount: 1,
      foodNutrientDerivation: { code }
    })
    await loadJson(home, [
      recordOf(1, { foodNutrients: [amount(1, { a: 1 }), amount(2, "ODD"), amount(3, "LCCS"), amount(4, "-")] }),
      recordOf(2, { foodAttributes: [{ id: "first", name: "A", value: "1" }] }),
      recordOf(3, {
        foodAttributes: [
          { id: 7, name: "A", value: "1" },
          { id: "", name: "B", value: "2" }
        ]
      }),
      recordOf(4, { foodAttributes: "" }),
      recordOf(5, { foodAttributes: "NA", foodUpdateLog: "--" })
    ])
    expect(await readOddValues(home)).toEqual(
      [
        "foodAttributes.id first",
        "foodNutrients.foodNutrientDerivation.code ODD",
        'foodNutrients.foodNutrientDerivation.code {"a":1}'
      ].map((text) => `gov-fdc/json unreadable: 1 × ${text}`)
    )
    expect(await foodsIn(home)).toEqual([1, 2, 3, 4, 5])
  })

  it.each([
    ["a key", { gtinUpc: true }, "gtinUpc is not a string"],
    ["a substance", { ingredients: false }, "ingredients is not a string"],
    [
      "the id of a nutrient",
      { foodNutrients: [{ nutrient: { id: true }, amount: 1 }] },
      "foodNutrients[0].nutrient.id is not a number"
    ]
  ])("rejects a record with a boolean as %s", async (_, fields, reason) => {
    const home = path.join(makeTestFolder(), "home")
    await loadJson(home, [recordOf(1, fields), recordOf(2)])
    expect(await formatRejects(home)).toEqual([`json 2: ${reason}`])
    expect(await foodsIn(home)).toEqual([2])
  })

  it("reads no boolean as a name, but keeps a name that looks like one", async () => {
    const home = path.join(makeTestFolder(), "home")
    await loadJson(home, [
      recordOf(1, { brandOwner: true, foodAttributes: [{ name: "A", value: false }] }),
      recordOf(2, { brandOwner: "true" })
    ])
    const [owners] = await query(home, "select brand_owner from branded_food.food order by fdc_id")
    expect(owners).toEqual([{ brand_owner: null }, { brand_owner: "true" }])
    expect(await readOddValues(home)).toEqual(
      ["brandOwner true", "foodAttributes.value false"].map((text) => `gov-fdc/json unreadable: 1 × ${text}`)
    )
  })

  it("reads amounts that JSON states as texts, and a placeholder as no amount", async () => {
    const home = path.join(makeTestFolder(), "home")
    const amount = (id: number, amount: unknown) => ({ id, nutrient: { id: 1002 + id }, amount })
    const own = { fat: { value: "N/A" }, calories: { value: "150" } }
    const { run } = await loadJson(home, [
      recordOf(1, { servingSize: "NA", labelNutrients: own, foodNutrients: [amount(1, "4.5"), amount(2, "--")] })
    ])
    expect(run.rows_rejected).toBe(0)
    const [rows] = await query(
      home,
      "select amount::double as amount, label_calories::double as calories, label_fat, serving_size from branded_food.nutrient_amount join branded_food.food using (fdc_id) order by nutrient_id"
    )
    const label = { calories: 150, label_fat: null, serving_size: null }
    expect(rows).toEqual([
      { amount: 4.5, ...label },
      { amount: null, ...label }
    ])
  })
})

describe("a CSV file in which an unquoted NA means nothing, as R writes it", () => {
  const loadText = async (change: (text: string) => string) => {
    const release = path.join(makeTestFolder(), "FoodData_Central_branded_food_csv_2026-04-30")
    const rows = toCsvRows([
      aLabel({ fdc_id: 1, brand_owner: "NA", nutrients: [{ nutrient_id: 1003, amount: "10" }], ingredients: "SALT" })
    ])
    writeCsv(release, rows)
    for (const file of ["food.csv", "branded_food.csv", "food_nutrient.csv"]) {
      const [header = "", ...lines] = readFileSync(path.join(release, file), "utf8").split("\n")
      writeFileSync(path.join(release, file), [change(header), ...lines.map(change)].join("\n"))
    }
    const home = path.join(release, "home")
    await loadRelease(home, release)
    const [foods] = await query(
      home,
      "select brand_owner, brand_name, package_weight, ingredients from branded_food.food"
    )
    return foods
  }

  it("has no text there, but keeps a quoted NA", async () => {
    const unquoted = (text: string) => text.replaceAll(/(?<=,)""(?=,|$)/g, "NA")
    expect(await loadText(unquoted)).toEqual([
      { brand_owner: "NA", brand_name: null, package_weight: null, ingredients: "SALT" }
    ])
  })

  it("keeps NA as a name if nothing is in quotes, but not as a weight", async () => {
    const plain = (text: string) => text.replaceAll(/(?<=,)""(?=,|$)/g, "NA").replaceAll('"', "")
    expect(await loadText(plain)).toEqual([
      { brand_owner: "NA", brand_name: "NA", package_weight: null, ingredients: "SALT" }
    ])
  })
})
