/** Small inputs after public reports about importers of branded foods: what a run publishes, flags and tells. */
import { readdirSync } from "node:fs"
import path from "node:path"
import { brandedFoods } from "@larder/pipelines/branded-foods/branded-foods.ts"
import { fileOrigin } from "@larder/pipelines/run/origins/file.ts"
import { replayOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { expect, it } from "vitest"
import { runInProcess } from "../support/pipelines/in-process.ts"
import { casesOf, describeCases } from "../support/shared-samples.ts"
import { makeTestFolder, query } from "./ingesting.ts"

const cases = casesOf("foods")

/** A case is the only file or folder in its folder, or the folder itself. */
const fileOf = (...names: ReadonlyArray<string>) => {
  const folder = path.join(cases, ...names)
  const [only, ...others] = readdirSync(folder)
  return only !== undefined && others.length === 0 ? path.join(folder, only) : folder
}

const loadInto = (home: string, ...names: ReadonlyArray<string>) =>
  runInProcess(brandedFoods, home, fileOrigin(fileOf(...names)))
const load = async (name: string) => {
  const home = makeTestFolder()
  return { home, ...(await loadInto(home, name)) }
}
const rowsOf = async (home: string, sql: string) => (await query(home, sql))[0] ?? []
const valuesOf = async (home: string, value: string, from = "branded_food.food order by fdc_id") =>
  (await rowsOf(home, `select ${value} as value from ${from}`)).map((row) => row.value)

describeCases("foods", "a label", () => {
  it("has its nutrition from a serving in any unit of mass or volume, and none from a piece", async () => {
    const { code, home } = await load("f13-units")
    const calories = await rowsOf(
      home,
      `select serving_size_unit as unit, any_value(serving_size_unit_normalized) as normalized,
         any_value(calories)::double as kcal
       from branded_food.food left join branded_food.nutrition using (fdc_id)
       where serving_size_unit in ('ONZ', 'OZA', 'KGM', 'EA', 'g') group by all order by unit`
    )
    expect([code, calories]).toMatchObject([
      0,
      [
        { unit: "EA", normalized: null, kcal: null },
        { unit: "KGM", normalized: null },
        { unit: "ONZ", normalized: null, kcal: 94.4 },
        { unit: "OZA", normalized: null },
        { unit: "g", normalized: "g" }
      ]
    ])
  })

  it("has the amount of a nutrient, wherever its row without an amount is", async () => {
    const { home } = await load("f31-nutrient-twice")
    expect((await valuesOf(home, "calories::double", "branded_food.nutrition order by fdc_id")).slice(0, 4)).toEqual(
      Array(4).fill(61.5)
    )
  })

  it("has its amounts in the units of the dictionary, and none in a unit that cannot be converted", async () => {
    const { code, home } = await load("f25-other-units-json")
    const [[rows = []] = [], flagged] = [
      await query(
        home,
        `select fdc_id - 2000000 as label, calories::double as kcal, protein::double as protein,
           sodium::double as sodium, vitamin_d::double as vitamin_d
         from branded_food.nutrition where fdc_id < 2000007 order by fdc_id`
      ),
      await valuesOf(home, "fdc_id", "branded_food.quality_flag where flag = 'nutrient_unit_unusable'")
    ]
    const usual = { kcal: 99.9, protein: 3, sodium: 30, vitamin_d: null }
    expect([code, flagged]).toEqual([0, [2000001]])
    expect(rows).toEqual([
      { label: 1, ...usual, kcal: null },
      { label: 2, ...usual },
      { label: 3, ...usual },
      { label: 4, ...usual },
      { label: 5, ...usual, vitamin_d: 1.5 },
      { label: 6, ...usual, vitamin_d: 1.5 }
    ])
  })

  it("has the nutrients that numbers in place of ids stand for in nutrient.csv", async () => {
    const { code, home } = await load("f02-numbers-for-ids")
    const calories = await valuesOf(home, "calories::double", "branded_food.nutrition")
    expect([code, calories]).toEqual([0, Array(30).fill(99.9)])
  })

  it.each([
    ["f30-broken-amount", 2000001],
    ["f29-broken-row", 2000003]
  ])("keeps what it had where a part of it cannot be read, flagged: %s", async (name, fdcId) => {
    const home = makeTestFolder()
    const select = "* exclude (quality_flags, release_on, fetched_at, run_id, raw_sha256, source_rows)"
    const labelOf = () => rowsOf(home, `select ${select} from branded_food.food where fdc_id = ${fdcId}`)
    await loadInto(home, name, "1")
    const before = await labelOf()
    await loadInto(home, name, "2")
    expect(await labelOf()).toEqual(before)
    const flags = `branded_food.quality_flag where fdc_id = ${fdcId}`
    expect(await valuesOf(home, "flag", flags)).toEqual(["part_rejected"])
  })

  it("without a readable row at its first load is flagged, and not as one without a barcode", async () => {
    const { home } = await load("f26b-broken-row-at-first")
    const flags = await valuesOf(home, "flag", "branded_food.quality_flag where fdc_id = 2000003 order by flag")
    expect(flags).toEqual(["label_row_missing", "part_rejected"])
  })

  it("is not shifted by a cell too many in its row", async () => {
    const { home } = await load("f26-cell-too-many")
    expect(new Set(await valuesOf(home, "brand_owner"))).toEqual(new Set(["ACME FOODS, INC.", null]))
  })

  it("has no text NA where R wrote NA for nothing", async () => {
    const { home } = await load("f41-na-for-nothing")
    const texts = "coalesce(subbrand_name, short_description, package_weight, not_a_significant_source_of)"
    expect(new Set(await valuesOf(home, texts))).toEqual(new Set([null]))
  })

  it("with a placeholder in place of a barcode is a product of its own", async () => {
    const { home } = await load("f11-placeholder-gtin")
    const flagged = "branded_food.food where list_contains(quality_flags, 'gtin_placeholder')"
    expect(await valuesOf(home, "upc", flagged)).toEqual(Array(5).fill(null))
    expect(await valuesOf(home, "fdc_id", "branded_food.current_food")).toHaveLength(16)
  })

  it("has a country by each of its usual names", async () => {
    const { home } = await load("f12a-countries")
    const countries = new Set(await valuesOf(home, "market_country_normalized"))
    for (const code of ["TR", "HK", "VN", "US", "CA", "KR"]) expect(countries).toContain(code)
  })

  it("is not lost for its trade channels or the day of its end", async () => {
    for (const name of ["f14-trade-channel", "f15a-discontinued"]) {
      const { code, home } = await load(name)
      expect([code, (await valuesOf(home, "fdc_id")).length]).toEqual([0, 16])
    }
  })
})

describeCases("foods", "a release", () => {
  it.each(["f40-index-column", "f40b-trailing-comma", "f40d-two-unnamed"])(
    "is loaded without columns that have no name, with a warning: %s",
    async (name) => {
      const { code, home, output } = await load(name)
      expect([code, await valuesOf(home, "count(*)::integer", "branded_food.food")]).toEqual([0, [30]])
      expect(output).toMatch(/without a name/)
    }
  )

  it("has each nutrient once, although a row of food_nutrient.csv is there twice", async () => {
    const { home } = await load("f10-duplicate-row")
    expect(new Set(await valuesOf(home, "list_contains(quality_flags, 'nutrient_twice')"))).toEqual(new Set([false]))
  })

  it("with a NUL in a text serves none", async () => {
    const { home } = await load("f35-nul")
    expect(await valuesOf(home, "count(*)::integer", "branded_food.food where contains(brand_owner, chr(0))")).toEqual([
      0
    ])
  })

  it.each([
    ["f05d-utf16-json", /UTF-16/],
    ["f07c-json-lines", /line/i]
  ])("that is another kind of file is named as such: %s", async (name, cause) => {
    const { code, output } = await load(name)
    expect(code).toBe(1)
    expect(output).toMatch(cause)
  })

  it.each(["f27d-renamed-zip", "f27c-copy-in-the-name"])(
    "that is older never replaces a newer one: %s",
    async (name) => {
      const home = makeTestFolder()
      await loadInto(home, name, "1")
      const before = await valuesOf(home, "description")
      await loadInto(home, name, "2")
      expect(await valuesOf(home, "description")).toEqual(before)
    }
  )

  it("loses no label for days with a time", async () => {
    const { code, home } = await load("f28-all-but-one-rejected")
    expect([code, await valuesOf(home, "count(*)::integer", "branded_food.food")]).toEqual([0, [60]])
  })

  it("of which most records lack the nutrients of their amounts keeps the earlier ones, and says so", async () => {
    const home = makeTestFolder()
    await loadInto(home, "f01-bare-over-good", "1")
    const before = await valuesOf(home, "nutrients")
    const { code, output } = await loadInto(home, "f01-bare-over-good", "2")
    expect([code, await valuesOf(home, "nutrients")]).toEqual([4, before])
    expect(output).toMatch(/27 of 30 labels were rejected/)
  })

  it("with numbers in place of ids changes nothing of the labels that it repeats", async () => {
    const home = makeTestFolder()
    await loadInto(home, "f02b-numbers-over-good", "1")
    const before = await valuesOf(home, "nutrients")
    await loadInto(home, "f02b-numbers-over-good", "2")
    expect(await valuesOf(home, "nutrients")).toEqual(before)
  })

  it("without any date is named as undated", async () => {
    const home = makeTestFolder()
    await loadInto(home, "f27e-undated", "1")
    expect((await loadInto(home, "f27e-undated", "2")).output).toMatch(/undated/)
  })

  it("is compared with counts that have separators of thousands", async () => {
    const { code, output } = await load("f36-counts-with-commas")
    expect(code).not.toBe(0)
    expect(output).toMatch(/1,?993,?975/)
  })

  it("of which DuckDB cannot read one form is published from the other", async () => {
    const home = makeTestFolder()
    const folder = path.join(cases, "f40i-one-form-unnamed")
    const { code } = await runInProcess(brandedFoods, home, replayOrigin(folder))
    expect([0, 4]).toContain(code)
    expect(await valuesOf(home, "count(*)::integer", "branded_food.food")).toEqual([30])
  })
})
