/** The foods of `examples/analysis.sql` over the bundled samples, compared with a second computation in plain code. */
import path from "node:path"
import type { Row } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it } from "vitest"
import { questions } from "../support/analysis-questions.ts"
import { queryDatabase } from "../support/warehouse/analyst.ts"

const asked = [7, 8, 9]
let results: ReadonlyMap<number, ReadonlyArray<Row>> = new Map()
const getResult = (number: number) => results.get(number) ?? []
const query = async (...sql: ReadonlyArray<string>) =>
  await Effect.runPromise(queryDatabase(path.join(inject("sampleHome"), "warehouse/larder.duckdb"), ...sql))

/** The newest label of each barcode, over all data sources. */
let tradeItems: ReadonlyArray<Row> = []

beforeAll(async () => {
  const rows = await query(...asked.map((number) => questions.get(number)?.replace(/;$/, "") ?? ""))
  results = new Map(asked.map((number, index) => [number, rows[index] ?? []]))
  const [labels = []] = await query(`
    select fdc_id, gtin_14, category, brand_owner, sodium, calories, len(quality_flags) as flags
    from branded_food.current_food left join branded_food.nutrition using (fdc_id)
    order by published_on desc nulls last, available_on desc nulls last, modified_on desc nulls last, fdc_id desc`)
  const barcoded = labels.filter(({ gtin_14 }) => gtin_14 !== null)
  tradeItems = [...Map.groupBy(barcoded, ({ gtin_14 }) => gtin_14).values()].flatMap((ofBarcode) =>
    ofBarcode.slice(0, 1)
  )
})

const computeMedian = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}

describe("the notebook's foods are those of a second computation", () => {
  it("7: medians of sodium, of barcodes whose label has no flag and states it", () => {
    const labels = tradeItems.filter(
      ({ category, flags, sodium }) => Number(flags) === 0 && sodium !== null && category !== null
    )
    const expected = [...Map.groupBy(labels, ({ category }) => String(category))]
      .filter(([, members]) => members.length >= 10)
      .map(([category, members]) => ({
        category,
        labels: String(members.length),
        mg_per_serving: Math.round(computeMedian(members.map(({ sodium }) => Number(sodium)))),
        mg_per_100_kcal: Math.round(
          computeMedian(
            members
              .filter(({ calories }) => Number(calories) > 0)
              .map(({ calories, sodium }) => (100 * Number(sodium)) / Number(calories))
          )
        )
      }))
      .toSorted((a, b) => b.mg_per_serving - a.mg_per_serving || (a.category < b.category ? -1 : 1))
    expect(getResult(7)).toEqual(expected.slice(0, 10))
  })

  it("8: ingredients that the newest labels have added and removed", async () => {
    const [pairs = []] = await query(`
      select before.ingredients as old, food.* from branded_food.food
      join branded_food.version on replaced_by = food.fdc_id
      join branded_food.food before on before.fdc_id = version.fdc_id
      where food.published_on is not null and before.ingredients is not null and food.ingredients is not null
      order by food.published_on desc, food.fdc_id`)
    const split = (text: unknown) =>
      String(text)
        .toUpperCase()
        .split(",")
        .map((part) => part.replace(/[^\p{L}\p{N}%]+/gu, " ").trim())
    const expected = pairs
      .map(({ description, ingredients, old }) => ({ description, after: split(ingredients), before: split(old) }))
      .filter(({ after, before }) => after.join() !== before.join())
      .map(({ after, before, description }) => ({
        description,
        added: after.filter((part) => !before.includes(part)),
        removed: before.filter((part) => !after.includes(part))
      }))
    expect(getResult(8).map(({ added, description, removed }) => ({ description, added, removed }))).toEqual(
      expected.slice(0, 10)
    )
  })

  it("9: companies under one name, however their labels spell it", () => {
    const forms = new Set(["inc", "llc", "ltd", "lp", "co", "company", "corp", "corporation"])
    const nameCompany = (owner: string) => {
      const words =
        owner
          .toLowerCase()
          .replaceAll(".", "")
          .match(/[\p{L}\p{N}]+/gu) ?? []
      const last = words.findLastIndex((word) => !forms.has(word))
      return words.slice(0, Math.max(last, 0) + 1).join(" ")
    }
    const owners = tradeItems.flatMap(({ brand_owner }) => (brand_owner === null ? [] : [String(brand_owner)]))
    const expected = [...Map.groupBy(owners, nameCompany)]
      .map(([company, members]) => ({
        company,
        products: String(members.length),
        spellings: [...new Set(members)].toSorted()
      }))
      .toSorted((a, b) => Number(b.products) - Number(a.products) || (a.company < b.company ? -1 : 1))
    expect(getResult(9).map(({ company, products, spellings }) => ({ company, products, spellings }))).toEqual(
      expected.slice(0, 10)
    )
  })
})
