import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { writeCsvRelease } from "./csv.ts"
import { perServing, scientific } from "./decimals.ts"
import { checkDigit, expandedUpcE } from "./gtin.ts"
import { labelNutrients, writeJsonRelease } from "./json.ts"
import type { Label } from "./label.ts"
import { Labels, labels, type ReleaseSize } from "./labels.ts"

const size: ReleaseSize = {
  foods: 8_000,
  versions_per_product: 3.8,
  seed: 7,
  vocabulary: 5_000,
  oddities: 1,
  released_on: "2026-04-30"
}

const isoOf = (text: string) => {
  const [month = "", day = "", year = ""] = text.split("/")
  return day === "" ? text : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
}

/** A CSV as strict as the source: every field quoted, line feeds between rows. */
const parsed = (text: string) => {
  const rows = [...text.matchAll(/((?:"(?:[^"]|"")*",)*"(?:[^"]|"")*")\n/g)]
  assert.strictEqual(
    rows.reduce((sum, [row]) => sum + row.length, 0),
    text.length
  )
  const fields = rows.map(([, row = ""]) =>
    [...row.matchAll(/"((?:[^"]|"")*)"(?:,|$)/g)].map(([, field = ""]) => field.replaceAll('""', '"'))
  )
  const [header = [], ...body] = fields
  return { header, rows: body.map((row) => Object.fromEntries(header.map((name, i) => [name, row[i] ?? ""]))) }
}

const Text = Schema.optional(Schema.String)
const Food = Schema.Struct({
  fdcId: Schema.Number,
  description: Schema.String,
  gtinUpc: Schema.String,
  dataSource: Schema.String,
  brandOwner: Text,
  brandName: Text,
  ingredients: Text,
  servingSize: Schema.Number,
  servingSizeUnit: Text,
  householdServingFullText: Text,
  brandedFoodCategory: Text,
  packageWeight: Text,
  modifiedDate: Text,
  availableDate: Schema.String,
  discontinuedDate: Text,
  publicationDate: Schema.String,
  marketCountry: Schema.String,
  tradeChannels: Schema.Array(Schema.String),
  foodNutrients: Schema.Array(
    Schema.Struct({ id: Schema.Number, nutrient: Schema.Struct({ id: Schema.Number }), amount: Schema.Number })
  ),
  foodAttributes: Schema.Array(Schema.Struct({ id: Schema.Number, name: Schema.String, value: Schema.String })),
  foodUpdateLog: Schema.Array(Schema.Struct({ fdcId: Schema.Number, publicationDate: Schema.String }))
})
const foodOf = Schema.decodeUnknownSync(Schema.fromJsonString(Food))

describe("a generated release", () => {
  let folder = ""
  let json = ""
  const csv = (name: string) => parsed(readFileSync(join(folder, "csv", `${name}.csv`), "utf8"))
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "larder-release-"))
    const written = await writeCsvRelease(join(folder, "csv"), size)
    const current = await writeJsonRelease(join(folder, "release.json"), size)
    assert.deepStrictEqual([written.foods, written.products], [size.foods, current.foods])
    json = readFileSync(join(folder, "release.json"), "utf8")
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const foods = () =>
    json
      .split("\n")
      .slice(1, -1)
      .map((text) => foodOf(text.replace(/,$/, "")))

  it("has the columns of the source", () => {
    assert.strictEqual(csv("branded_food").header.length, 21)
    assert.strictEqual(csv("branded_food").header.at(-1), "material_code")
    assert.deepStrictEqual(csv("food").header, [
      "fdc_id",
      "data_type",
      "description",
      "food_category_id",
      "publication_date"
    ])
    assert.strictEqual(csv("food_nutrient").header.length, 13)
    assert.strictEqual(csv("nutrient").rows[0]?.rank, "600.0")
  })
  it("counts as it wrote, but for food, where the source is wrong, too", () => {
    const counts = readFileSync(join(folder, "csv", "all_downloaded_table_record_counts.csv"), "utf8")
    for (const table of ["branded_food", "food_nutrient", "food_attribute"])
      assert.include(counts, `\n${table},${csv(table).rows.length}\n`)
    assert.notInclude(counts, `\nfood,${size.foods}\n`)
  })
  it("has one food per line in the JSON, in a document that parses as a whole", () => {
    assert.isTrue(json.startsWith('{"BrandedFoods": [\n{"foodClass":"Branded",'))
    assert.isTrue(json.endsWith("]}\n]}"))
    JSON.parse(json)
    assert.match(json, /"amount":0\.000\}/)
    assert.match(json, /"amount":\d\.\d\dE\+\d\}/)
  })
  it("orders both forms by fdc_id, without a number twice", () => {
    const ids = [csv("food").rows.map((row) => Number(row.fdc_id)), foods().map((food) => food.fdcId)]
    for (const list of ids)
      assert.deepStrictEqual(
        list,
        [...new Set(list)].toSorted((a, b) => a - b)
      )
  })
  it("states the same label in both forms", () => {
    const food = new Map(csv("food").rows.map((row) => [Number(row.fdc_id), row]))
    const branded = new Map(csv("branded_food").rows.map((row) => [Number(row.fdc_id), row]))
    const amounts = Map.groupBy(csv("food_nutrient").rows, (row) => Number(row.fdc_id))
    const attributes = Map.groupBy(csv("food_attribute").rows, (row) => Number(row.fdc_id))
    for (const record of foods()) {
      const [row = {}, about = {}] = [branded.get(record.fdcId), food.get(record.fdcId)]
      const channels = row.trade_channel === "" ? '["NO_TRADE_CHANNEL"]' : row.trade_channel
      assert.deepStrictEqual(
        {
          description: about.description,
          published: isoOf(about.publication_date ?? ""),
          gtin: row.gtin_upc,
          source: row.data_source,
          owner: row.brand_owner,
          brand: row.brand_name,
          ingredients: row.ingredients,
          serving: Number(row.serving_size),
          unit: row.serving_size_unit,
          household: row.household_serving_fulltext,
          category: row.branded_food_category || about.food_category_id,
          weight: row.package_weight,
          modified: row.modified_date,
          available: row.available_date,
          discontinued: row.discontinued_date,
          country: row.market_country,
          channels
        },
        {
          description: record.description,
          published: isoOf(record.publicationDate),
          gtin: record.gtinUpc,
          source: record.dataSource,
          owner: record.brandOwner ?? "",
          brand: record.brandName ?? "",
          ingredients: record.ingredients ?? "",
          serving: record.servingSize,
          unit: record.servingSizeUnit ?? "",
          household: record.householdServingFullText ?? "",
          category: record.brandedFoodCategory ?? "",
          weight: record.packageWeight ?? "",
          modified: isoOf(record.modifiedDate ?? ""),
          available: isoOf(record.availableDate),
          discontinued: isoOf(record.discontinuedDate ?? ""),
          country: record.marketCountry,
          channels: JSON.stringify(record.tradeChannels)
        }
      )
      assert.deepStrictEqual(
        (amounts.get(record.fdcId) ?? []).map((a) => [Number(a.id), Number(a.nutrient_id), Number(a.amount)]),
        record.foodNutrients.map((a) => [a.id, a.nutrient.id, a.amount])
      )
      assert.deepStrictEqual(
        (attributes.get(record.fdcId) ?? []).map((a) => [Number(a.id), a.name, a.value]).toReversed(),
        record.foodAttributes.map((a) => [a.id, a.name, a.value])
      )
    }
  })
  it("has in the JSON the current version of each data source and GTIN, and logs the older ones", () => {
    const published = new Map(csv("food").rows.map((row) => [row.fdc_id, isoOf(row.publication_date ?? "")]))
    const versions = Map.groupBy(
      csv("branded_food").rows,
      (row) => `${row.data_source} ${row.gtin_upc?.padStart(14, "0")}`
    )
    const order = (row: Record<string, string>) =>
      `${published.get(row.fdc_id ?? "")} ${row.available_date} ${row.modified_date} ${row.fdc_id?.padStart(9, "0")}`
    const latest = [...versions.values()].map((rows) =>
      Number(rows.toSorted((a, b) => (order(a) < order(b) ? 1 : -1))[0]?.fdc_id)
    )
    assert.deepStrictEqual(
      foods().map((food) => food.fdcId),
      latest.toSorted((a, b) => a - b)
    )
    for (const { dataSource, fdcId, foodUpdateLog, gtinUpc } of foods()) {
      const rows = versions.get(`${dataSource} ${gtinUpc.padStart(14, "0")}`) ?? []
      const log = foodUpdateLog.map((version) => version.fdcId)
      assert.strictEqual(log[0], fdcId)
      assert.sameMembers(
        log,
        rows.map((row) => Number(row.fdc_id))
      )
    }
  })
  it("has current versions that are not the newest id", () => {
    const swapped = foods().filter((food) => food.foodUpdateLog.some((version) => version.fdcId > food.fdcId))
    assert.isAbove(swapped.length, 3)
  })
})

describe("generated labels", () => {
  const all = [...labels(size)]
  const share = (isSo: (label: Label) => boolean) => all.filter(isSo).length / all.length
  const length = (n: number) => share((label) => label.gtin_upc.length === n)

  it("are the same for the same seed, and others for another", () => {
    assert.deepStrictEqual([...labels(size)], all)
    assert.notStrictEqual([...labels({ ...size, seed: 8, foods: 1 })][0]?.description, all[0]?.description)
  })
  it("are exactly as many as asked for, with the asked number of versions", () => {
    assert.strictEqual(all.length, size.foods)
    const { products } = new Labels(size).plan
    assert.approximately(size.foods / products, size.versions_per_product, 0.2)
    assert.strictEqual([...new Labels({ ...size, versions_per_product: 1 }).current()].length, size.foods)
  })
  it("have the barcodes of the source: lengths, check digits, some UPC-E, one number per product", () => {
    assert.approximately(length(12), 0.876, 0.02)
    assert.approximately(length(13), 0.068, 0.015)
    assert.approximately(length(14), 0.052, 0.015)
    assert.approximately(
      share(({ gtin_upc }) => checkDigit(gtin_upc.slice(0, -1)) === Number(gtin_upc.at(-1)) || gtin_upc.length === 8),
      0.977,
      0.01
    )
    const { products } = new Labels(size).plan
    assert.strictEqual(
      new Set(all.map((label) => `${label.data_source} ${label.gtin_upc.padStart(14, "0")}`)).size,
      products
    )
    assert.strictEqual(expandedUpcE("04252614"), "042100005264")
  })
  it("have one product under two data sources now and then", () => {
    const sources = Map.groupBy(all, (label) => label.gtin_upc.padStart(14, "0"))
    assert.isAbove([...sources.values()].filter((list) => new Set(list.map((l) => l.data_source)).size === 2).length, 3)
  })
  it("have texts as long as those of the source", () => {
    const middle = (lengths: ReadonlyArray<number>) => lengths.toSorted((a, b) => a - b)[lengths.length >> 1] ?? 0
    assert.approximately(middle(all.map((label) => label.description.length)), 34, 5)
    assert.approximately(middle(all.map((label) => label.ingredients.length)), 206, 25)
    assert.approximately(
      share((label) => label.ingredients === label.ingredients.toUpperCase()),
      0.968,
      0.02
    )
  })
  it("state 13.6 nutrients each", () => {
    assert.approximately(all.reduce((sum, label) => sum + label.amounts.length, 0) / all.length, 13.6, 0.4)
    assert.approximately(
      share((label) => label.amounts.some((a) => a.nutrient.id === 1003)),
      0.97,
      0.02
    )
    assert.approximately(
      share((label) => label.amounts.some((a) => a.nutrient.id === 1092)),
      0.42,
      0.04
    )
    assert.isAbove(
      share((label) => label.amounts.length === 0),
      0
    )
  })
  it("state amounts that agree with one another, but for some that cannot be", () => {
    const disagreements = (label: Label) => {
      const made = new Map(
        label.amounts.map(({ amount, nutrient }) => [nutrient.id, amount.digits / 10 ** amount.scale])
      )
      const of = (...ids: ReadonlyArray<number>) => ids.reduce((sum, id) => sum + (made.get(id) ?? 0), 0)
      const outweigh = (whole: number, ...parts: ReadonlyArray<number>) =>
        made.has(whole) && of(...parts) > of(whole) * 1.01 // amounts per 100 are rounded one by one
      const energy = 4 * of(1003) + 9 * of(1004) + 4 * of(1005) - 2 * of(1079)
      return [
        of(1003, 1004, 1005, 1007, 1051) > 101,
        outweigh(1004, 1258, 1257, 1292, 1293),
        outweigh(1005, 2000, 1063, 1079),
        outweigh(2000, 1235),
        // the label of a serving of a gram or two rounds much
        label.serving.digits > 5 &&
          [1003, 1004, 1005, 1008].every((id) => made.has(id)) &&
          of(1008) > energy * 1.25 + 20
      ]
    }
    const found = all.map(disagreements)
    for (const rule of found[0]?.keys() ?? [])
      assert.isBelow(found.filter((label) => label[rule]).length, all.length / 500, `rule ${rule}`)
  })
  it("state amounts distributed as those of the source", () => {
    const middle = (id: number) => {
      const amounts = all
        .flatMap((label) => label.amounts.filter(({ nutrient }) => nutrient.id === id))
        .map(({ amount }) => amount.digits / 10 ** amount.scale)
      return amounts.toSorted((a, b) => a - b)[amounts.length >> 1] ?? 0
    }
    assert.approximately(middle(1003), 4.65, 0.7)
    assert.approximately(middle(1004), 6, 1.2)
    assert.approximately(middle(1005), 23.3, 3)
    assert.approximately(middle(1008), 267, 30)
    assert.approximately(middle(1093), 251, 30)
  })
  it("state what their amounts make of a serving, under the fifteen keys of the source", () => {
    const keys = Object.entries({
      fat: [1004],
      saturatedFat: [1258],
      transFat: [1257],
      cholesterol: [1253],
      sodium: [1093],
      carbohydrates: [1005],
      fiber: [1079],
      sugars: [2000, 1063],
      protein: [1003],
      vitaminD: [1114, 1110],
      calcium: [1087],
      iron: [1089],
      potassium: [1092],
      addedSugar: [1235],
      calories: [1008, 2047, 2048]
    })
    for (const label of all.slice(-2_000)) {
      const expected = keys.flatMap(([key, ids]) => {
        const rows = ids.flatMap((id) => label.amounts.filter((row) => row.nutrient.id === id).slice(-1))
        const row = rows[0]
        if (!row || label.serving.digits === 0 || label.withoutLabelNutrients) return []
        const value = scientific(perServing(row.amount, label.serving, row.nutrient.id === 1110 ? 40 : 1))
        return [`"${key}":{"value":${value}}`]
      })
      const isTwice = new Set(label.amounts.map((row) => row.nutrient.id)).size < label.amounts.length
      if (!isTwice) assert.strictEqual(labelNutrients(label), `{${expected.join(",")}}`)
    }
  })
  it("have words that only one product has", () => {
    const seen = Map.groupBy(
      new Labels({ ...size, versions_per_product: 1, vocabulary: 150_000 }).current(),
      ({ label }) => /, (\S+) (?:EXTRACT|POWDER)\.?$/.exec(label.ingredients)?.[1]
    )
    assert.isAbove([...seen.values()].filter((list) => list.length === 1).length, 300)
  })
  it("show the oddities of the source in a small sample, when asked to", () => {
    const odd = [...labels({ ...size, oddities: 8 })]
    const shows = (isSo: (label: Label) => boolean, what: string) => assert.isTrue(odd.some(isSo), what)
    shows((l) => l.serving_size === "0", "a serving of zero")
    shows((l) => /^\d+\.\d{9,}$/.test(l.serving_size), "float noise")
    shows((l) => l.brand_owner.startsWith("[["), "brackets")
    shows((l) => l.brand_owner === "NOT A BRANDED ITEM", "no brand")
    shows((l) => l.description.includes('""'), "doubled quotes")
    shows((l) => l.description.includes("%") && l.description !== "", "a percent sign")
    shows((l) => l.description.includes("_"), "an underscore")
    shows((l) => /[ÄÖÜÑÈ]/.test(l.description), "letters outside ASCII")
    shows((l) => l.ingredients.includes("â„¢"), "broken characters")
    shows((l) => l.ingredients.includes("\n"), "a line break")
    shows((l) => /^[\d.]+$/.test(l.category), "a number for a category")
    shows((l) => l.serving_size_unit === "MC", "a miscoded unit")
    shows((l) => l.gpc_class_code > 0 && l.caffeine_statement !== "", "caffeine")
    shows((l) => new Set(l.amounts.map((a) => a.nutrient.id)).size < l.amounts.length, "a nutrient twice")
    shows((l) => l.amounts.some((a) => a.nutrient.id === 1062), "energy in kJ")
    shows(
      (l) => l.amounts.some((a) => a.nutrient.id === 1008 && a.amount.digits / 10 ** a.amount.scale > 1_000),
      "too much energy"
    )
  })
})
