/** Consecutive releases: two forms of one release, newer releases, and a rollback. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { brandedFoodId } from "@larder/schemas"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { writeZip } from "../samples/branded-foods/zip.ts"
import {
  aLabel,
  type Form,
  ingestLabels,
  type Label,
  toCsvRows,
  writeCsv,
  writeJson
} from "../support/label-releases.ts"
import { run } from "../support/programs.ts"
import { derivedOf, ingest, labelsOf, recordsOf } from "./branded-foods.ts"
import {
  copyForTest,
  copyHome,
  generationOf,
  newestManifest,
  query,
  removeFolder,
  temporaryFolder
} from "./ingesting.ts"

type Found = Readonly<Record<string, unknown>> | undefined
const removeTime = (record: Found) => (record === undefined ? undefined : { ...record, fetched_at: "" })

describe("both forms of a release", () => {
  /** A label of both forms, with fields that only one of them has. */
  const both = aLabel({
    fdc_id: 700,
    description: "CORN FLAKES",
    gtin_upc: "059642932491",
    brand_owner: "Larkspur, Inc.",
    serving_size: "30",
    serving_size_unit: "g",
    nutrients: [
      { nutrient_id: 1008, amount: "333" },
      { nutrient_id: 1003, amount: "10" }
    ],
    gpc_class_code: "50161800",
    caffeine_statement: "NONE",
    footnote: "A note",
    food_category_id: "Cereal", // only in food.csv
    not_a_significant_source_of: "TRANS FAT.",
    label_nutrients: { calories: "110" }
  })
  const current = [both, aLabel({ fdc_id: 701, description: "JSON ONLY" })]
  const all = [
    both,
    aLabel({ fdc_id: 699, description: "EARLIER", gtin_upc: "059642932491", publication_date: "2020-11-13" }),
    aLabel({ fdc_id: 702, description: "CSV ONLY" })
  ]
  const ids = [699, 700, 701, 702]

  /** A label with a different day of availability in each form. */
  const makeDiffering = (available_date: string) => aLabel({ fdc_id: 710, available_date })

  /** Ingests one form after the other, so that the first generation has only the first form. */
  const ingestInOrder = async (home: string, ...order: ReadonlyArray<Form>) => {
    for (const form of order) await ingestLabels(home, form, form === "json" ? current : all)
  }
  /** Ingests both zips in one run, as from the source itself. */
  const ingestTogether = async (home: string) => {
    const folder = temporaryFolder()
    const datasets = path.join(folder, "fdc.nal.usda.gov/fdc-datasets")
    mkdirSync(datasets, { recursive: true })
    const zipName = (form: Form) => path.join(datasets, `FoodData_Central_branded_food_${form}_2026-04-30.zip`)
    writeJson(path.join(folder, "brandedDownload.json"), [...current, makeDiffering("4/15/2020")])
    await writeZip([{ file: path.join(folder, "brandedDownload.json"), name: "brandedDownload.json" }], zipName("json"))
    writeCsv(path.join(folder, "csv"), toCsvRows([...all, makeDiffering("2020-11-13")]))
    const files = readdirSync(path.join(folder, "csv"))
    await writeZip(
      files.map((name) => ({ file: path.join(folder, "csv", name), name: `top/${name}` })),
      zipName("csv")
    )
    const { code, stderr } = await run("larder-ingest", ["branded-foods", "--replay", folder], { LARDER_HOME: home })
    removeFolder(folder)
    expect([code, stderr.includes("ERROR")]).toEqual([0, false])
  }

  const [jsonFirst, csvFirst, together] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
  const homes = [jsonFirst, csvFirst, together]
  beforeAll(async () => {
    await ingestInOrder(jsonFirst, "json", "csv")
    await ingestInOrder(csvFirst, "csv", "json")
    await ingestTogether(together)
  })
  afterAll(() => homes.forEach(removeFolder))

  it("complete each other's labels by fdc_id, in either order and in one run", async () => {
    const found = await Promise.all(homes.map((home) => recordsOf(home, ids)))
    for (const [earlier, merged, jsonOnly, csvOnly] of found) {
      expect(merged).toMatchObject({
        id: brandedFoodId(700),
        description: "CORN FLAKES",
        category: "Cereal",
        gpc_class_code: 50161800,
        caffeine_statement: "NONE",
        footnote: "A note",
        nutrition: { calories: 110, protein: 3 } // stated, and computed: 3 exactly
      })
      expect([earlier, jsonOnly, csvOnly].map((record) => record?.description)).toEqual([
        "EARLIER",
        "JSON ONLY",
        "CSV ONLY"
      ])
    }
    const [first, ...others] = found.map((records) => records.map(removeTime))
    for (const other of others) expect(other).toEqual(first)
    for (const home of homes) {
      const [rows] = await query(
        home,
        "select not_a_significant_source_of as of from branded_food.food where fdc_id = 700"
      )
      expect(rows).toEqual([{ of: "TRANS FAT." }])
    }
    const isInBoth = (row: string) => !row.includes(":710,") && !row.startsWith("category")
    const [firstDerived, secondDerived, derivedTogether] = await Promise.all(homes.map(derivedOf))
    expect(secondDerived).toEqual(firstDerived)
    expect(derivedTogether?.filter(isInBoth)).toEqual(firstDerived?.filter(isInBoth))
  })

  it("use the day of the JSON form when they state different days in one run", async () => {
    expect(await recordsOf(together, [710])).toMatchObject([{ available_on: "2020-04-15", published_on: "2025-04-24" }])
  })

  it("have the same record for the same food, except for fields of only one form", async () => {
    const [[fromJson], [fromCsv]] = (await Promise.all(
      [jsonFirst, csvFirst].map((home) => recordsOf(home, [700], 1))
    )) as [ReadonlyArray<Found>, ReadonlyArray<Found>]
    const onlyOne = {
      fetched_at: "",
      gpc_class_code: 0,
      caffeine_statement: "",
      footnote: "",
      category: "",
      nutrition: {}
    }
    expect({ ...fromCsv, ...onlyOne }).toEqual({ ...fromJson, ...onlyOne })
    expect([fromJson?.nutrition, fromCsv?.nutrition]).toEqual([
      { calories: 110, protein: 3 },
      { calories: 99.9, protein: 3 }
    ])
  })
})

describe("a release after another one", () => {
  const version = (fdc_id: number, publication_date: string, description: string): Label =>
    aLabel({ fdc_id, publication_date, description, gtin_upc: "059642932491" })
  const makeRestated = (label: Partial<Label>) => aLabel({ fdc_id: 820, ...label })
  const footnote = "Only JSON can state this"
  const first = [
    version(800, "2025-04-24", "OLD RECIPE"),
    aLabel({ fdc_id: 801, description: "SOMETHING ELSE" }),
    makeRestated({ brand_name: "A", package_weight: "1 kg", footnote })
  ]
  const second = [
    version(810, "2026-04-30", "NEW RECIPE"),
    aLabel({ fdc_id: 801, description: "SOMETHING ELSE" }),
    makeRestated({ brand_name: "B" })
  ]

  const known = temporaryFolder()
  const newer = temporaryFolder()
  beforeAll(async () => {
    expect(await ingestLabels(known, "json", first)).toMatchObject({ outcome: "published", rows_loaded: 3 })
    copyHome(known, newer)
    // a food and a branded food for each label; those of 801 are known
    expect(await ingestLabels(newer, "csv", second, "2026-08-31")).toMatchObject({ rows_read: 6, rows_loaded: 4 })
  })
  afterAll(() => [known, newer].forEach(removeFolder))

  it("publishes nothing if it is already known", async () => {
    expect(await ingestLabels(known, "json", first)).toMatchObject({
      outcome: "unchanged",
      generation: null,
      rows_read: 3,
      rows_loaded: 0,
      rows_unchanged: 3,
      rows_rejected: 0
    })
    expect(generationOf(known, "branded-foods")).toBe("larder-000001")
    expect(newestManifest(known).number).toBe(2) // has the record of the run
  })

  it("loads nothing if its labels are known, and only records its payload", async () => {
    const home = copyForTest(known)
    const labels = await labelsOf(home)
    const records = await recordsOf(home, [800, 801])
    const later = await ingestLabels(home, "json", first.slice(0, 2).toReversed(), "2026-08-31")
    expect(later).toMatchObject({ rows_read: 2, rows_loaded: 0, rows_unchanged: 2, rows_rejected: 0 })
    expect(await labelsOf(home)).toEqual(labels)
    expect(await recordsOf(home, [800, 801])).toEqual(records) // as first fetched
    const payloads = "select count(*)::integer as payloads from ingest.raw_file where pipeline = 'branded-foods'"
    expect((await query(home, payloads))[0]).toEqual([{ payloads: 2 }])
  })

  it("keeps labels that it omits, and a rollback restores the earlier records", async () => {
    const ids = [800, 801, 810]
    const readDescriptions = async () => (await recordsOf(newer, ids)).map((record) => record?.description)
    expect(await readDescriptions()).toEqual(["OLD RECIPE", "SOMETHING ELSE", "NEW RECIPE"])
    const history = `select fdc_id, version, version_count, is_current, replaced_by from branded_food.version
      where gtin_14 = '00059642932491' order by version`
    expect((await query(newer, history))[0]).toEqual([
      { fdc_id: 800, version: 1, version_count: 2, is_current: false, replaced_by: 810 },
      { fdc_id: 810, version: 2, version_count: 2, is_current: true, replaced_by: null }
    ])

    const rollBackTo = async (to: string) => {
      const { code, stdout } = await run("larder-ingest", ["rollback", "--to", to], { LARDER_HOME: newer })
      expect([code, stdout]).toEqual([0, expect.stringContaining(`branded-foods is that of ${to}`)])
    }
    await rollBackTo("larder-000001")
    expect(await readDescriptions()).toEqual(["OLD RECIPE", "SOMETHING ELSE", undefined])
    await rollBackTo("larder-000002")
    expect(await readDescriptions()).toEqual(["OLD RECIPE", "SOMETHING ELSE", "NEW RECIPE"])
  })

  it("overrides older releases of a label, in either order of loading", async () => {
    const home = copyForTest(newer)
    const readRecord = async () => (await recordsOf(home, [820]))[0]
    const now = { brand_name: "B", package_weight: null, footnote }
    expect(await readRecord()).toMatchObject(now)
    await ingestLabels(home, "json", [makeRestated({ brand_name: "OLD", package_weight: "2 kg" })], "2025-04-24")
    expect(await readRecord()).toMatchObject(now)
  })
})

describe("a folder of CSV files", () => {
  const folder = temporaryFolder()
  const home = path.join(folder, "home")
  const release = path.join(folder, "FoodData_Central_branded_food_csv_2026-04-30")
  const nutrients = [{ nutrient_id: 1008, amount: "333" }]
  const labels = [aLabel({ fdc_id: 900, nutrients }), aLabel({ fdc_id: 901, description: "SECOND", nutrients })]
  const counts = path.join(release, "all_downloaded_table_record_counts.csv") // the first one by name
  afterAll(() => removeFolder(folder))

  it("is recorded by the files with its rows, and corrected files are recorded again", async () => {
    writeCsv(release, toCsvRows(labels))
    writeFileSync(counts, "Table,Number of Records\nbranded_food,2\n")
    expect((await ingest(home, release)).code).toBe(0)
    const listFiles = async () => {
      const [rows] = await query(
        home,
        `select regexp_extract(url, '[^/]+$') as file, rows_read::integer as rows,
           dense_rank() over (order by run_id)::integer as run
         from ingest.raw_file order by run, file`
      )
      return rows?.map(({ file, rows, run }) => `${run}: ${file} ${rows}`)
    }
    const first = await listFiles()
    expect(first?.filter((row) => !row.endsWith(" 0"))).toEqual([
      "1: branded_food.csv 2",
      "1: food.csv 2",
      "1: food_nutrient.csv 2"
    ])
    writeFileSync(
      path.join(release, "food.csv"),
      readFileSync(path.join(release, "food.csv"), "utf8").replace("SECOND", "2ND")
    )
    expect((await ingest(home, release)).code).toBe(0)
    expect(await listFiles()).toEqual([...(first ?? []), "2: food.csv 2"])
    expect((await recordsOf(home, [901]))[0]).toMatchObject({ description: "2ND" })
  })

  it("is rejected when a file has fewer records than stated, unless the operator accepts it", async () => {
    writeFileSync(counts, "Table,Number of Records\nfood_nutrient,4\n")
    const other = path.join(folder, "other")
    const refused = await ingest(other, release)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(
      "food_nutrient.csv has 2 records, and all_downloaded_table_record_counts.csv declares 4"
    )
    expect((await ingest(other, release, "--accept-shrinkage")).code).toBe(0)
    expect(await labelsOf(other)).toEqual(await labelsOf(home))
  })
})

describe("recordings without a release", () => {
  it("leave out both forms, with the reason", async () => {
    const folder = temporaryFolder()
    const replay = path.join(folder, "recordings")
    mkdirSync(path.join(replay, "fdc.nal.usda.gov"), { recursive: true })
    const ended = await run("larder-ingest", ["branded-foods", "--replay", replay, "--json"], {
      LARDER_HOME: path.join(folder, "home")
    })
    removeFolder(folder)
    expect(ended.code).toBe(1)
    const reason = expect.stringMatching(/^No release of branded foods was found in the recording/)
    expect(JSON.parse(ended.stdout).left_out).toEqual([
      { feed: "gov-fdc/json", kind: "unreachable", reason },
      { feed: "gov-fdc/csv", kind: "unreachable", reason }
    ])
  })
})
