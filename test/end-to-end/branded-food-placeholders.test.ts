/** Releases of branded foods as other programs write them: texts that mean "no value", days with times, NA without quotes. */
import { readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { aLabel, ingestLabels, toCsvRows, writeCsv } from "../support/label-releases.ts"
import { jsonRelease, recordOf } from "../support/pipelines/small-releases.ts"
import { makeTestFolder, query } from "./ingesting.ts"
import { formatRejects, loadJson, loadRelease, readOddValues } from "./invalid-fields.ts"
import { foodsIn } from "./small-releases.ts"

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
    ["a substance", { ingredients: false }, "ingredients is not a string"]
  ])("rejects a record with a boolean as %s", async (_, fields, reason) => {
    const home = path.join(makeTestFolder(), "home")
    await loadJson(home, [recordOf(1, fields), recordOf(2)])
    expect(await formatRejects(home)).toEqual([`json 2: ${reason}`])
    expect(await foodsIn(home)).toEqual([2])
  })

  it("rejects an amount with a boolean as the id of its nutrient", async () => {
    const home = path.join(makeTestFolder(), "home")
    await loadJson(home, [recordOf(1, { foodNutrients: [{ nutrient: { id: true }, amount: 1 }] }), recordOf(2)])
    expect(await formatRejects(home)).toEqual(["json/foodNutrients 2: foodNutrients[0].nutrient.id is not a number"])
    expect(await foodsIn(home)).toEqual([1, 2])
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
