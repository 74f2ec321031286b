/**
 * Writes releases of a few labels in both forms of the source, for labels that no sample has. An empty text means that
 * the label does not state the value: the JSON form omits the key, the CSV form writes `""`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { run } from "./programs.ts"

/** Numbers are texts, so that a number such as `4.00E+4` is written unchanged. */
export interface Amount {
  readonly nutrient_id: number
  /** Empty if the row has no amount. */
  readonly amount: string
  readonly derivation?: keyof typeof derivations
  /** Only in the CSV form. */
  readonly percent_daily_value?: string
  /** Description in the JSON form, such as of a nutrient that no dictionary has. */
  readonly described?: { readonly number: string; readonly name: string; readonly unitName: string }
}

export interface Label {
  readonly fdc_id: number
  readonly description: string
  readonly publication_date: string
  readonly brand_owner: string
  readonly brand_name: string
  readonly subbrand_name: string
  readonly gtin_upc: string
  readonly ingredients: string
  readonly serving_size: string
  readonly serving_size_unit: string
  readonly household_serving_fulltext: string
  readonly branded_food_category: string
  readonly data_source: string
  readonly package_weight: string
  readonly modified_date: string
  readonly available_date: string
  readonly market_country: string
  readonly discontinued_date: string
  readonly preparation_state_code: string
  /** A list in the list cannot be read. */
  readonly trade_channels: ReadonlyArray<string | ReadonlyArray<string>>
  readonly short_description: string
  readonly nutrients: ReadonlyArray<Amount>
  readonly attributes: ReadonlyArray<{ readonly name: string; readonly value: string }>
  /** This and the next field are only in the CSV form. */
  readonly food_category_id: string
  readonly not_a_significant_source_of: string
  /** This and the following fields are only in the JSON form. */
  readonly gpc_class_code: string
  readonly caffeine_statement: string
  readonly footnote: string
  /** By the keys of the source; undefined if the key `labelNutrients` is missing. */
  readonly label_nutrients: Readonly<Record<string, string>> | undefined
  /** Versions before this one, with their publication days. */
  readonly update_log: ReadonlyArray<readonly [fdc_id: number, published_on: string]>
}

const derivations = { LCCS: 70, LCSA: 71, LCSL: 73, LCCD: 75, LCGE: 77 }

const defaults: Omit<Label, "fdc_id"> = {
  description: "ROLLED OATS",
  publication_date: "2025-04-24",
  brand_owner: "",
  brand_name: "",
  subbrand_name: "",
  gtin_upc: "",
  ingredients: "",
  serving_size: "",
  serving_size_unit: "",
  household_serving_fulltext: "",
  branded_food_category: "",
  data_source: "LI",
  package_weight: "",
  modified_date: "",
  available_date: "",
  market_country: "",
  discontinued_date: "",
  preparation_state_code: "",
  trade_channels: [],
  short_description: "",
  nutrients: [],
  attributes: [],
  food_category_id: "",
  not_a_significant_source_of: "",
  gpc_class_code: "",
  caffeine_statement: "",
  footnote: "",
  label_nutrients: undefined,
  update_log: []
}

/** A label with a name, a source and a publication day, and the given values. */
export const aLabel = (stated: Partial<Label> & Pick<Label, "fdc_id">): Label => ({ ...defaults, ...stated })

/** Marks a number, which is then written to the JSON text with its own digits. */
const markNumber = (digits: string) => `<number>${digits}`
const toAmounts = (pairs: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(pairs).map(([key, value]) => [key, { value: markNumber(value) }]))

const omitEmpty = (entries: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== ""))

const toJson = (label: Label) => {
  const food = {
    foodClass: "Branded",
    description: label.description,
    foodNutrients: label.nutrients.map(({ amount, derivation = "LCCS", nutrient_id, described }, index) => ({
      type: "FoodNutrient",
      id: label.fdc_id * 100 + index,
      nutrient: { id: nutrient_id, ...described },
      foodNutrientDerivation: { code: derivation },
      ...(amount !== "" && { amount: markNumber(amount) })
    })),
    foodAttributes: label.attributes.map((attribute, index) => ({
      id: label.fdc_id * 100 + index,
      ...omitEmpty(attribute)
    })),
    ...omitEmpty({
      modifiedDate: label.modified_date,
      availableDate: label.available_date,
      discontinuedDate: label.discontinued_date,
      marketCountry: label.market_country,
      brandOwner: label.brand_owner,
      brandName: label.brand_name,
      subbrandName: label.subbrand_name,
      gtinUpc: label.gtin_upc,
      dataSource: label.data_source,
      ingredients: label.ingredients,
      servingSize: label.serving_size && markNumber(label.serving_size),
      servingSizeUnit: label.serving_size_unit,
      householdServingFullText: label.household_serving_fulltext,
      shortDescription: label.short_description,
      packageWeight: label.package_weight,
      preparationStateCode: label.preparation_state_code,
      gpcClassCode: label.gpc_class_code && markNumber(label.gpc_class_code),
      caffeineStatement: label.caffeine_statement,
      footnote: label.footnote,
      brandedFoodCategory: label.branded_food_category,
      publicationDate: label.publication_date
    }),
    ...(label.label_nutrients && { labelNutrients: toAmounts(label.label_nutrients) }),
    tradeChannels: label.trade_channels.length > 0 ? label.trade_channels : ["NO_TRADE_CHANNEL"],
    microbes: [],
    fdcId: label.fdc_id,
    dataType: "Branded",
    foodUpdateLog: label.update_log.map(([fdcId, publicationDate]) => ({ fdcId, publicationDate }))
  }
  return JSON.stringify(food).replace(/"<number>([^"]*)"/g, "$1")
}

/** Writes the JSON form to a file. */
export const writeJson = (file: string, labels: ReadonlyArray<Label>): void =>
  writeFileSync(file, `{"BrandedFoods": [\n${labels.map(toJson).join(",\n")}\n]}`)

export type Row = Readonly<Record<string, string>>

/** The rows of the four CSV files, by column name. */
export const toCsvRows = (labels: ReadonlyArray<Label>) => ({
  food: labels.map(
    ({ description, fdc_id, food_category_id, publication_date }): Row => ({
      fdc_id: String(fdc_id),
      data_type: "branded_food",
      description,
      food_category_id,
      publication_date
    })
  ),
  branded_food: labels.map(
    (label): Row => ({
      fdc_id: String(label.fdc_id),
      brand_owner: label.brand_owner,
      brand_name: label.brand_name,
      subbrand_name: label.subbrand_name,
      gtin_upc: label.gtin_upc,
      ingredients: label.ingredients,
      not_a_significant_source_of: label.not_a_significant_source_of,
      serving_size: label.serving_size,
      serving_size_unit: label.serving_size_unit,
      household_serving_fulltext: label.household_serving_fulltext,
      branded_food_category: label.branded_food_category,
      data_source: label.data_source,
      package_weight: label.package_weight,
      modified_date: label.modified_date,
      available_date: label.available_date,
      market_country: label.market_country,
      discontinued_date: label.discontinued_date,
      preparation_state_code: label.preparation_state_code,
      trade_channel: label.trade_channels.length > 0 ? JSON.stringify(label.trade_channels) : "",
      short_description: label.short_description,
      material_code: ""
    })
  ),
  food_nutrient: labels.flatMap(({ fdc_id, nutrients }) =>
    nutrients.map(
      ({ amount, derivation = "LCCS", nutrient_id, percent_daily_value = "" }, index): Row => ({
        id: String(fdc_id * 100 + index),
        fdc_id: String(fdc_id),
        nutrient_id: String(nutrient_id),
        amount,
        data_points: "",
        derivation_id: String(derivations[derivation]),
        min: "",
        max: "",
        median: "",
        loq: "",
        footnote: "",
        min_year_acquired: "",
        percent_daily_value
      })
    )
  ),
  food_attribute: labels.flatMap(({ attributes, fdc_id }) =>
    attributes.map(
      ({ name, value }, index): Row => ({
        id: String(fdc_id * 100 + index),
        fdc_id: String(fdc_id),
        seq_num: "",
        food_attribute_type_id: "998",
        name,
        value
      })
    )
  )
})
export type CsvRows = ReturnType<typeof toCsvRows>

const toLine = (fields: ReadonlyArray<string>) => fields.map((field) => `"${field.replaceAll('"', '""')}"`).join(",")

/** A CSV file in the format of the source. `defaultColumns` are the columns of a table without rows. */
export const csvText = (rows: ReadonlyArray<Row>, end = "\n", defaultColumns: ReadonlyArray<string> = []): string => {
  const columns = rows[0] === undefined ? defaultColumns : Object.keys(rows[0])
  const lines = rows.map((row) => toLine(columns.map((column) => row[column] ?? "")))
  return [toLine(columns), ...lines].map((line) => line + end).join("")
}

const requiredColumns: Readonly<Record<keyof CsvRows, ReadonlyArray<string>>> = {
  food: ["fdc_id", "description", "publication_date"],
  branded_food: [],
  food_nutrient: ["id", "fdc_id", "nutrient_id", "amount", "derivation_id"],
  food_attribute: ["id", "fdc_id", "name", "value"]
}

/** Writes the files of the CSV form to a folder. */
export const writeCsv = (folder: string, rows: CsvRows, end = "\n"): void => {
  mkdirSync(folder, { recursive: true })
  for (const member of ["food", "branded_food", "food_nutrient", "food_attribute"] as const) {
    writeFileSync(path.join(folder, `${member}.csv`), csvText(rows[member], end, requiredColumns[member]))
  }
}

export const forms = ["json", "csv"] as const
export type Form = (typeof forms)[number]

/** Runs the pipeline on a local release. Returns the record of the run. */
export const ingestFile = async (
  home: string,
  file: string,
  ...flags: ReadonlyArray<string>
): Promise<Readonly<Record<string, unknown>>> => {
  const { code, stderr, stdout } = await run("larder-ingest", ["branded-foods", "--file", file, "--json", ...flags], {
    LARDER_HOME: home
  })
  if (code !== 0) throw new Error(`larder-ingest branded-foods exited with ${code}:\n${stderr}`)
  return JSON.parse(stdout)
}

/** Loads labels as the release of a day, in one of the two forms. */
export const ingestLabels = async (
  home: string,
  form: Form,
  labels: ReadonlyArray<Label>,
  day = "2026-04-30",
  ...flags: ReadonlyArray<string>
) => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-release-"))
  const name = `FoodData_Central_branded_food_${form}_${day}`
  const release = path.join(folder, form === "json" ? `${name}.json` : name)
  try {
    if (form === "json") writeJson(release, labels)
    else writeCsv(release, toCsvRows(labels))
    return await ingestFile(home, release, ...flags)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Makes a home that contains only these labels. The caller removes it. */
export const makeHome = async (labels: ReadonlyArray<Label>, form: Form = "json"): Promise<string> => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-labels-"))
  try {
    await ingestLabels(home, form, labels)
    return home
  } catch (error) {
    rmSync(home, { recursive: true, force: true })
    throw error
  }
}
