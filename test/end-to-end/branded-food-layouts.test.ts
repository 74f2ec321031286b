/** The layouts of the CSV form over the years: each has the same labels, and unknown columns are reported once. */
import { readdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { writeCsvRelease } from "../samples/branded-foods/csv.ts"
import type { ReleaseSize } from "../samples/branded-foods/labels.ts"
import { writeZip } from "../samples/branded-foods/zip.ts"
import { aLabel, type CsvRows, csvText, type Row, toCsvRows, writeCsv } from "../support/label-releases.ts"
import { columnsOf2019 } from "../support/pipelines/small-releases.ts"
import { derivedOf, ingest, labelsOf, recordsOf } from "./branded-foods.ts"
import { makeTestFolder, parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"

const size: ReleaseSize = {
  foods: 60,
  versions_per_product: 2,
  seed: 7,
  vocabulary: 50,
  oddities: 8,
  released_on: "2025-12-18"
}
const dictionaries = [
  "nutrient.csv",
  "measure_unit.csv",
  "food_nutrient_derivation.csv",
  "food_nutrient_source.csv",
  "food_attribute_type.csv",
  "all_downloaded_table_record_counts.csv"
]
const name = "FoodData_Central_branded_food_csv_2025-12-18"

const readUnknownFields = async (home: string) => {
  const [rows = []] = await query(home, "select field from ingest.unknown_field order by field")
  return rows.map(({ field }) => field)
}
const selectWarnings = (stderr: string) => stderr.split("\n").filter((line) => line.includes("unmapped fields"))

describe("a generated CSV release", () => {
  const folder = temporaryFolder()
  const release = path.join(folder, name)
  const home = path.join(folder, "home")
  let rows: ReadonlyArray<string>
  let derived: ReadonlyArray<string>
  beforeAll(async () => {
    await writeCsvRelease(release, size)
    expect((await ingest(home, release)).code).toBe(0)
    rows = await labelsOf(home)
    derived = await derivedOf(home)
    expect(rows.length).toBe(size.foods)
  })
  afterAll(() => removeFolder(folder))

  it("has the same labels without dictionaries, from upper-case files in folders of a different zip", async () => {
    const files = readdirSync(release).filter((file) => !dictionaries.includes(file))
    expect(files.length).toBe(4)
    const zip = path.join(folder, "download (1).zip")
    const otherHome = path.join(folder, "other-home")
    await writeZip(
      files.map((file) => ({ file: path.join(release, file), name: `a/b/c/${file.toUpperCase()}` })),
      zip
    )
    const end = await ingest(otherHome, zip)
    expect([end.code, parseRunRecord(end)]).toMatchObject([0, { rows_rejected: 0 }])
    expect(await labelsOf(otherHome)).toEqual(rows)
    expect(await derivedOf(otherHome)).toEqual(derived)
  })
})

describe("a small CSV release", () => {
  const labels = [1, 2, 3, 4].map((n) =>
    aLabel({
      fdc_id: 345_000 + n,
      description: `GRANOLA "NO. ${n}", 6""`,
      publication_date: n % 2 === 0 ? "2019-12-06" : "2019-04-01",
      brand_owner: "Larkspur, Inc.",
      gtin_upc: `05964293249${n}`,
      ingredients: "OATS, SUGAR, SALT.",
      serving_size: "30.0",
      serving_size_unit: "g",
      household_serving_fulltext: "1 cup",
      branded_food_category: "Cereal",
      modified_date: "2019-01-02",
      available_date: "2019-03-04",
      market_country: "United States",
      nutrients: [
        { nutrient_id: 1008, amount: "400" },
        { nutrient_id: 1003, amount: "10" }
      ],
      attributes: [{ name: "Nutrient Added", value: "5" }]
    })
  )
  const plain = toCsvRows(labels)

  const pickColumns = (row: Row, columns: ReadonlyArray<string>): Row =>
    Object.fromEntries(columns.map((column) => [column, row[column] ?? ""]))
  const mapRows = (rows: CsvRows, change: Partial<Record<keyof CsvRows, (row: Row) => Row>>): CsvRows => ({
    food: rows.food.map(change.food ?? ((row) => row)),
    branded_food: rows.branded_food.map(change.branded_food ?? ((row) => row)),
    food_nutrient: rows.food_nutrient.map(change.food_nutrient ?? ((row) => row)),
    food_attribute: rows.food_attribute.map(change.food_attribute ?? ((row) => row))
  })
  const formatAmerican = (day: string | undefined) => {
    const [year = "", month, dayOfMonth] = (day ?? "").split("-")
    return year === "" ? "" : `${Number(month)}/${Number(dayOfMonth)}/${year}`
  }

  const load = async (rows: CsvRows, end = "\n") => {
    const folder = makeTestFolder()
    writeCsv(path.join(folder, name), rows, end)
    const home = path.join(folder, "home")
    const ended = await ingest(home, path.join(folder, name))
    expect([ended.code, parseRunRecord(ended)]).toMatchObject([0, { rows_rejected: 0, rows_read: 20, rows_loaded: 20 }])
    return { home, ended }
  }
  let expected: ReadonlyArray<string>
  beforeAll(async () => {
    const folder = temporaryFolder()
    try {
      writeCsv(path.join(folder, name), plain)
      await ingest(path.join(folder, "home"), path.join(folder, name))
      expected = await labelsOf(path.join(folder, "home"))
      expect(expected.length).toBe(labels.length)
    } finally {
      removeFolder(folder)
    }
  })

  const reverseColumns = (row: Row): Row => Object.fromEntries(Object.entries(row).toReversed())

  it("has the same labels with Windows line ends, American days, and the columns of 2023 in another order", async () => {
    const rows = mapRows(plain, {
      food: (row) => reverseColumns({ ...row, publication_date: formatAmerican(row.publication_date) }),
      branded_food: ({ material_code: _, ...row }) =>
        reverseColumns({
          ...row,
          modified_date: formatAmerican(row.modified_date),
          available_date: formatAmerican(row.available_date)
        }),
      food_nutrient: ({ loq: _, percent_daily_value: __, ...row }) => reverseColumns({ ...row, standard_error: "" }),
      food_attribute: reverseColumns
    })
    const { ended, home } = await load(rows, "\r\n")
    expect(await labelsOf(home)).toEqual(expected)
    expect([selectWarnings(ended.stderr), await readUnknownFields(home)]).toEqual([[], []])
  })

  it("has the same labels with unknown columns, and warns about them once", async () => {
    const { ended, home } = await load(
      mapRows(plain, {
        branded_food: (row) => ({ halal: "yes", ...row }),
        food_nutrient: (row) => ({ ...row, "some \u201cnew\u201d column": "1" })
      })
    )
    expect(await labelsOf(home)).toEqual(expected)
    const unknown = ["branded_food.halal", "food_nutrient.some \u201cnew\u201d column"]
    expect(await readUnknownFields(home)).toEqual(unknown)
    const [warning = "{}", ...others] = selectWarnings(ended.stderr)
    expect(others).toEqual([])
    expect(JSON.parse(warning)).toMatchObject({ level: "WARN", feed: "gov-fdc/csv", fields: unknown })

    // a newer release with the same columns, which are now known
    const folder = makeTestFolder()
    const newer = path.join(folder, name.replace("2025-12-18", "2026-04-30"))
    writeCsv(
      newer,
      mapRows(toCsvRows([aLabel({ fdc_id: 9, description: "NEW" })]), {
        branded_food: (row) => ({ halal: "no", ...row })
      })
    )
    const second = await ingest(home, newer)
    expect([second.code, selectWarnings(second.stderr)]).toEqual([0, []])
  })

  const readLabels = async (home: string) => {
    const [first, ...others] = await recordsOf(
      home,
      labels.map(({ fdc_id }) => fdc_id)
    )
    expect(others.length).toBe(3)
    expect(first).toMatchObject({
      description: 'GRANOLA "NO. 1", 6"',
      brand_owner: "Larkspur, Inc.",
      brand_name: null,
      upc: "059642932491",
      nutrition: { calories: 120, protein: 3 },
      trade_channels: [],
      available_on: "2019-03-04"
    })
    return first
  }

  it("reads the layout of 2019, with 11 columns", async () => {
    const { home } = await load(mapRows(plain, { branded_food: (row) => pickColumns(row, columnsOf2019) }))
    expect(await readLabels(home)).toMatchObject({
      attributes: [{ name: "Nutrient Added", value: "5" }],
      market_country: null,
      market_country_normalized: null
    })
  })

  it("reads the layout of 2020, with 13 columns, no file of attributes, and foods of other kinds", async () => {
    const folder = makeTestFolder()
    const release = path.join(folder, name)
    const columnsOf2020 = [...columnsOf2019, "market_country", "discontinued_date"]
    writeCsv(release, mapRows(plain, { branded_food: (row) => pickColumns(row, columnsOf2020) }))
    const others = ["sr_legacy_food", "foundation_food"].map((data_type, index) => ({
      ...plain.food[0],
      fdc_id: String(index + 1),
      data_type,
      description: ""
    }))
    writeFileSync(path.join(release, "food.csv"), csvText([...others, ...plain.food]))
    rmSync(path.join(release, "food_attribute.csv"))
    const home = path.join(folder, "home")
    const ended = await ingest(home, release)
    expect([ended.code, parseRunRecord(ended)]).toMatchObject([
      0,
      { rows_read: 18, rows_loaded: 16, rows_unchanged: 2, rows_rejected: 0 }
    ])
    expect(await readLabels(home)).toMatchObject({
      attributes: [],
      market_country: "United States",
      market_country_normalized: "US"
    })
    expect(await recordsOf(home, [1])).toEqual([undefined])
  })
})
