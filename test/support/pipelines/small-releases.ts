/** Releases of a few branded foods, made by hand, so that a test can change each line. */
import { type Part, zipOf } from "./handmade-zips.ts"

/** Formats one line of a CSV file, with every field in quotes. */
export const line = (...fields: ReadonlyArray<string | number>) =>
  `${fields.map((field) => `"${String(field).replaceAll('"', '""')}"`).join(",")}\n`

export const foodLine = (id: number, description = `FOOD ${id}`, published = "2024-04-18") =>
  line(id, "branded_food", description, "", published)

interface BrandedFields {
  readonly serving_size?: string
  readonly modified_date?: string
  readonly ingredients?: string
}
export const brandedLine = (id: number, fields: BrandedFields = {}) => {
  const { ingredients = "SALT, WATER", modified_date = "2024-04-18", serving_size = "30.0" } = fields
  const gtin = String(41_000_000_000 + id).padStart(12, "0")
  return line(id, "OWNER", gtin, ingredients, serving_size, "g", "1 PIECE", "Candy", "LI", modified_date, "2024-04-18")
}
export const amountLine = (row: number, id: number, nutrient: number | string = 1003, amount = "3.5") =>
  line(row, id, nutrient, amount)

/** Columns of branded_food.csv in the oldest releases. */
export const columnsOf2019 = [
  "fdc_id",
  "brand_owner",
  "gtin_upc",
  "ingredients",
  "serving_size",
  "serving_size_unit",
  "household_serving_fulltext",
  "branded_food_category",
  "data_source",
  "modified_date",
  "available_date"
]

const headers = {
  "food.csv": line("fdc_id", "data_type", "description", "food_category_id", "publication_date"),
  "branded_food.csv": line(...columnsOf2019),
  "food_nutrient.csv": line("id", "fdc_id", "nutrient_id", "amount")
}
type CsvName = keyof typeof headers

/** Makes the files of a CSV release from their lines, without headers. */
export const csvFiles = (lines: Readonly<Record<CsvName, string | Buffer>>): ReadonlyArray<Part> =>
  Object.entries(lines).map(([name, body]) => ({
    path: name,
    content: Buffer.concat([Buffer.from(headers[name as CsvName]), Buffer.from(body)]) // the keys are CsvNames
  }))

/** Three valid foods with the ids 1, 2 and 3 plus `from`. */
export const goodFiles = (from = 0): ReadonlyArray<Part> => {
  const ids = [1, 2, 3].map((id) => from + id)
  return csvFiles({
    "food.csv": ids.map((id) => foodLine(id)).join(""),
    "branded_food.csv": ids.map((id) => brandedLine(id)).join(""),
    "food_nutrient.csv": ids.map((id) => amountLine(id, id)).join("")
  })
}

export const goodZip = (from = 0): Buffer => zipOf(...goodFiles(from))

/** Numbers in random order, which compress badly. */
const noise = (seed: number) => (Math.imul(seed, 2_654_435_761) >>> 0).toString(36)

/** A release for which every step writes larger files than the previous one. Its ids start at 1000. */
export const largeZip = (foods: number): Buffer => {
  const ids = Array.from({ length: foods }, (_, index) => 1000 + index)
  const ingredients = (id: number) => Array.from({ length: 20 }, (_, index) => noise(id * 20 + index)).join(" ")
  const amounts = (id: number) =>
    Array.from({ length: 10 }, (_, index) => amountLine(id * 10 + index, id, 1003 + index)).join("")
  return zipOf(
    ...csvFiles({
      "food.csv": ids.map((id) => foodLine(id)).join(""),
      "branded_food.csv": ids.map((id) => brandedLine(id, { ingredients: ingredients(id) })).join(""),
      "food_nutrient.csv": ids.map(amounts).join("")
    })
  )
}

/** Makes one record of the JSON form, on one line. */
export const recordOf = (id: number, fields: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    fdcId: id,
    description: `FOOD ${id}`,
    dataSource: "LI",
    gtinUpc: String(41_000_000_000 + id).padStart(12, "0"),
    servingSize: 30,
    servingSizeUnit: "g",
    publicationDate: "4/18/2024",
    foodNutrients: [{ id, nutrient: { id: 1003, number: "203", name: "Protein", unitName: "g" }, amount: 3.5 }],
    ...fields
  })

export const jsonRelease = (lines: ReadonlyArray<string | Buffer>): Buffer => {
  const pieces = lines.flatMap((text, index) => [
    Buffer.from(text),
    Buffer.from(index < lines.length - 1 ? ",\n" : "\n")
  ])
  return Buffer.concat([Buffer.from('{"BrandedFoods": [\n'), ...pieces, Buffer.from("]}\n")])
}
