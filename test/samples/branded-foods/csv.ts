/**
 * Writes the CSV form: all versions, every field quoted, LF, no byte order mark. `food_nutrient.csv` has two thirds of
 * the bytes. `all_downloaded_table_record_counts.csv` is unquoted, as in the source.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { formatPlain } from "./decimals.ts"
import { formatDate, type Label } from "./label.ts"
import { Labels, type ReleaseSize } from "./labels.ts"
import { derivations, fromDailyValue, nutrients } from "./nutrients.ts"
import { Sinks } from "./sink.ts"

interface CsvCounts {
  readonly foods: number
  readonly products: number
  readonly nutrient_rows: number
  readonly attribute_rows: number
}

const quote = (text: string) => (text.includes('"') ? `"${text.replaceAll('"', '""')}"` : `"${text}"`)
const formatLine = (fields: ReadonlyArray<string>) => `${fields.map(quote).join(",")}\n`

const headers = {
  food: ["fdc_id", "data_type", "description", "food_category_id", "publication_date"],
  branded_food: [
    "fdc_id",
    "brand_owner",
    "brand_name",
    "subbrand_name",
    "gtin_upc",
    "ingredients",
    "not_a_significant_source_of",
    "serving_size",
    "serving_size_unit",
    "household_serving_fulltext",
    "branded_food_category",
    "data_source",
    "package_weight",
    "modified_date",
    "available_date",
    "market_country",
    "discontinued_date",
    "preparation_state_code",
    "trade_channel",
    "short_description",
    "material_code"
  ],
  food_nutrient: [
    "id",
    "fdc_id",
    "nutrient_id",
    "amount",
    "data_points",
    "derivation_id",
    "min",
    "max",
    "median",
    "loq",
    "footnote",
    "min_year_acquired",
    "percent_daily_value"
  ],
  food_attribute: ["id", "fdc_id", "seq_num", "food_attribute_type_id", "name", "value"]
}

const categoryRepeatedFrom = 3_800 // mid-2024: since then `food.csv` repeats the category

const formatFood = (label: Label) => {
  const category = label.hasCategoryOnlyInFood || label.published > categoryRepeatedFrom ? label.category : ""
  const published = formatDate(label.published, label.hasAmericanDates)
  return `"${label.fdc_id}","branded_food",${quote(label.description)},${quote(category)},"${published}"\n`
}

const addPoint = (size: string) => (size.includes(".") ? size : `${size}.0`)

const formatBrandedFood = (label: Label) => {
  const channels = label.trade_channels.length > 0 ? JSON.stringify(label.trade_channels) : ""
  const category = label.hasCategoryOnlyInFood ? "" : label.category
  return `"${label.fdc_id}",${quote(label.brand_owner)},${quote(label.brand_name)},"${label.subbrand_name}","${label.gtin_upc}",${quote(label.ingredients)},"${label.not_a_significant_source_of}","${addPoint(label.serving_size)}","${label.serving_size_unit}",${quote(label.household_serving_fulltext)},${quote(category)},"${label.data_source}","${label.package_weight}","${formatDate(label.modified, false)}","${formatDate(label.available, false)}","${label.market_country}","${formatDate(label.discontinued, false)}","${label.preparation_state_code}",${quote(channels)},"${label.short_description}","${label.material_code}"\n`
}

const formatAmounts = (label: Label) => {
  let rows = ""
  for (const { amount, derivation, id, nutrient } of label.amounts) {
    const daily = derivation === fromDailyValue ? `${amount.digits % 100}.0` : ""
    rows += `"${id}","${label.fdc_id}","${nutrient.id}","${formatPlain(amount)}","","${derivations[derivation]?.id ?? ""}","","","","","","","${daily}"\n`
  }
  return rows
}

const formatAttributes = (label: Label) => {
  let rows = ""
  for (const { id, name, value } of label.changes) rows += `"${id}","${label.fdc_id}","","998","${name}","${value}"\n`
  return rows
}

const toUpperUnit = (unit: string) => (unit === "kJ" ? unit : unit.replace("µ", "u").toUpperCase())

const writeDictionaries = (folder: string, counts: CsvCounts) => {
  const write = (name: string, rows: ReadonlyArray<ReadonlyArray<string>>) =>
    writeFileSync(join(folder, name), rows.map(formatLine).join(""))
  write("nutrient.csv", [
    ["id", "name", "unit_name", "nutrient_nbr", "rank"],
    ...nutrients.map((n) => [`${n.id}`, n.name, toUpperUnit(n.unit), n.number, `${n.rank}.0`])
  ])
  write("measure_unit.csv", [
    ["id", "name"],
    ["1000", "cup"],
    ["1001", "tablespoon"],
    ["1002", "teaspoon"],
    ["1009", "fl oz"]
  ])
  write("food_nutrient_derivation.csv", [
    ["id", "code", "description", "source_id"],
    ...derivations.map((d) => [`${d.id}`, d.code, d.description, "9"])
  ])
  write("food_nutrient_source.csv", [
    ["id", "code", "description"],
    ["9", "12", "Manufacturer's analytical; partial documentation"]
  ])
  write("food_attribute_type.csv", [
    ["id", "name", "description"],
    ["998", "Update Log", "Changes that were made to this food"],
    ["999", "Attribute", "Generic attributes"],
    ["1000", "Common Name", "Common names associated with a food."],
    ["1001", "Additional Description", "Additional descriptions for the food."],
    ["1002", "Adjustments", "Adjustments made to foods, including moisture changes"]
  ])
  const table = [
    ["branded_food", counts.foods],
    ["food", counts.foods],
    ["food_attribute", counts.attribute_rows],
    ["food_attribute_type", 5],
    ["food_nutrient", counts.nutrient_rows],
    ["food_nutrient_derivation", derivations.length],
    ["food_nutrient_source", 1],
    ["measure_unit", 4],
    ["nutrient", nutrients.length]
  ]
  writeFileSync(
    join(folder, "all_downloaded_table_record_counts.csv"),
    `Table,Number of Records\n${table.map((row) => `${row.join(",")}\n`).join("")}`
  )
}

const writeTables = (release: Labels, folder: string): CsvCounts => {
  const sinks = new Sinks()
  const openTable = (name: keyof typeof headers) => {
    const sink = sinks.open(join(folder, `${name}.csv`))
    sink.write(formatLine(headers[name]))
    return sink
  }
  try {
    const [food, branded] = [openTable("food"), openTable("branded_food")]
    const [amounts, attributes] = [openTable("food_nutrient"), openTable("food_attribute")]
    let [foods, nutrient_rows, attribute_rows] = [0, 0, 0]
    for (const label of release.drawAll()) {
      food.write(formatFood(label))
      branded.write(formatBrandedFood(label))
      amounts.write(formatAmounts(label))
      if (label.changes.length > 0) attributes.write(formatAttributes(label))
      foods += 1
      nutrient_rows += label.amounts.length
      attribute_rows += label.changes.length
    }
    return { foods, products: release.plan.products, nutrient_rows, attribute_rows }
  } finally {
    sinks.close()
  }
}

/** Writes all files of the CSV form, about 25,000 labels per second. It is synchronous: large releases need a separate process. */
export const writeCsvRelease = async (folder: string, size: ReleaseSize): Promise<CsvCounts> => {
  mkdirSync(folder, { recursive: true })
  const release = new Labels(size)
  const counts = writeTables(release, folder)
  writeDictionaries(folder, counts)
  return counts
}
