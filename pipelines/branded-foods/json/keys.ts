/** The keys of a food in the JSON release, and how DuckDB is told to read them: as texts, save for the ids of amounts. */
import { literal } from "@larder/warehouse/duckdb.ts"

/** Keys of a food that are read, and their types; what is nested keeps the parts that are needed. */
const read = {
  line: "bigint",
  fdcId: "varchar",
  description: "varchar",
  shortDescription: "varchar",
  brandOwner: "varchar",
  brandName: "varchar",
  subbrandName: "varchar",
  brandedFoodCategory: "varchar",
  gpcClassCode: "varchar",
  gtinUpc: "varchar",
  packageWeight: "varchar",
  servingSize: "varchar",
  servingSizeUnit: "varchar",
  householdServingFullText: "varchar",
  preparationStateCode: "varchar",
  marketCountry: "varchar",
  tradeChannels: "varchar[]",
  ingredients: "varchar",
  foodNutrients:
    "struct(id double, amount varchar, nutrient struct(id double), foodNutrientDerivation struct(code varchar))[]",
  foodAttributes: "struct(id varchar, name varchar, value varchar)[]",
  foodUpdateLog: "struct(fdcId varchar, publicationDate varchar)[]",
  labelNutrients: `struct(${[
    "calories",
    "fat",
    "saturatedFat",
    "transFat",
    "cholesterol",
    "sodium",
    "carbohydrates",
    "fiber",
    "sugars",
    "addedSugar",
    "protein",
    "calcium",
    "iron",
    "potassium",
    "vitaminD"
  ]
    .map((key) => `"${key}" struct("value" varchar)`)
    .join(", ")})`,
  caffeineStatement: "varchar",
  footnote: "varchar",
  materialCode: "varchar",
  dataSource: "varchar",
  publicationDate: "varchar",
  availableDate: "varchar",
  modifiedDate: "varchar",
  discontinuedDate: "varchar"
} as const

/** Known, and the same for every branded food or always empty. */
const leftOut = ["foodClass", "dataType", "microbes"]
export const knownKeys: ReadonlySet<string> = new Set([...Object.keys(read), ...leftOut])

/** The longest food so far has 60 kB; the cutter holds none that is longer than 16 MB. */
export const mostBytesOfFood = 33_554_432

export const relationOf = (path: string) => {
  const columns = Object.entries(read).map(([key, type]) => `${literal(key)}: ${literal(type)}`)
  return `read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false,
    maximum_object_size = ${mostBytesOfFood}, columns = {${columns.join(", ")}})`
}
