/**
 * Writes the JSON form: one current label version per line in `{"BrandedFoods": [` … `]}`. `foodUpdateLog` names the
 * version itself, then the older ones. `labelNutrients` is amount × serving size / 100 with three significant digits.
 */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import type { StatedAmount } from "./amounts.ts"
import { formatAmericanDate } from "./days.ts"
import { formatScientific, perServing } from "./decimals.ts"
import type { Headline, Label, LoggedChange } from "./label.ts"
import { Labels, type ReleaseSize } from "./labels.ts"
import { derivations, nutrients } from "./nutrients.ts"
import { Sinks } from "./sink.ts"

interface JsonCounts {
  readonly foods: number
  readonly nutrients: number
}

const source = { id: 9, code: "12", description: "Manufacturer's analytical; partial documentation" }

/** The text between a row's id and its amount, by nutrient and derivation (the last one is none): most of a record. */
const middles = new Map(
  nutrients.map((nutrient) => {
    const { id, name, number, rank, unit } = nutrient
    const start = `,"nutrient":${JSON.stringify({ id, number, name, rank, unitName: unit })}`
    const withDerivation = derivations.map(
      ({ code, description }) =>
        `${start},"foodNutrientDerivation":${JSON.stringify({ code, description, foodNutrientSource: source })},"amount":`
    )
    return [nutrient, [...withDerivation, `${start},"amount":`]]
  })
)

const formatAmount = ({ amount, derivation, id, nutrient }: StatedAmount) => {
  const middle = middles.get(nutrient)?.at(derivation) ?? ""
  return `{"type":"FoodNutrient","id":${id}${middle}${formatScientific(amount)}}`
}

/** In the order of the source. The first stated nutrient is used. 40 IU of vitamin D are a microgram. */
const labelKeys: ReadonlyArray<readonly [string, ReadonlyArray<readonly [number, 1 | 40]>]> = [
  ["fat", [[1004, 1]]],
  ["saturatedFat", [[1258, 1]]],
  ["transFat", [[1257, 1]]],
  ["cholesterol", [[1253, 1]]],
  ["sodium", [[1093, 1]]],
  ["carbohydrates", [[1005, 1]]],
  ["fiber", [[1079, 1]]],
  [
    "sugars",
    [
      [2000, 1],
      [1063, 1]
    ]
  ],
  ["protein", [[1003, 1]]],
  [
    "vitaminD",
    [
      [1114, 1],
      [1110, 40]
    ]
  ],
  ["calcium", [[1087, 1]]],
  ["iron", [[1089, 1]]],
  ["potassium", [[1092, 1]]],
  ["addedSugar", [[1235, 1]]],
  [
    "calories",
    [
      [1008, 1],
      [2047, 1],
      [2048, 1]
    ]
  ]
]

/** If a nutrient has two rows, the one with the better derivation is used, otherwise the later one. */
const betterFirst = ["LCGE", "LCGP", "LCGA", "LCGL", "LCSE", "LCCS", "LCCD", "LCSA", "LCSL", "LCSG"]
const quality = derivations.map(({ code }) => betterFirst.indexOf(code))
const getQuality = ({ derivation }: StatedAmount) => quality[derivation] ?? betterFirst.length

const formatLabelNutrients = (label: Label) => {
  if (label.serving.digits === 0 || label.omitsLabelNutrients) return "{}"
  const stated = new Map<number, StatedAmount>()
  for (const row of label.amounts) {
    const other = stated.get(row.nutrient.id)
    if (!other || getQuality(row) <= getQuality(other)) stated.set(row.nutrient.id, row)
  }
  let text = ""
  for (const [key, choices] of labelKeys)
    for (const [id, unitsPerMicrogram] of choices) {
      const row = stated.get(id)
      if (!row) continue
      text += `${text === "" ? "" : ","}"${key}":{"value":${formatScientific(perServing(row.amount, label.serving, unitsPerMicrogram))}}`
      break
    }
  return `{${text}}`
}

const updateLog = { id: 998, name: "Update Log", description: "Changes that were made to this food" }
const formatChanges = (list: ReadonlyArray<LoggedChange>, type: object) =>
  JSON.stringify(list.map(({ id, name, value }) => ({ id, name, value, foodAttributeType: type })))

const formatHeadline = ({ changes: list, description, fdc_id, published }: Headline) =>
  `{"foodClass":"Branded","description":${JSON.stringify(description)},"foodAttributes":${formatChanges(list, { id: 998 })},"fdcId":${fdc_id},"dataType":"Branded","publicationDate":"${formatAmericanDate(published)}"}`

/** If the label does not state a text, its key is missing, or empty in one record of fifty. */
const formatOptional = (key: string, text: string, includesEmpty: boolean) =>
  text !== "" || includesEmpty ? `"${key}":${JSON.stringify(text)},` : ""
const formatDay = (key: string, day: number) => (day < 0 ? "" : `"${key}":"${formatAmericanDate(day)}",`)

const formatRecord = (label: Label, older: ReadonlyArray<Headline>) => {
  const includesEmpty = label.fdc_id % 50 === 0
  let amounts = ""
  for (const row of label.amounts) amounts += `${amounts === "" ? "" : ","}${formatAmount(row)}`
  const channels = label.trade_channels.length > 0 ? label.trade_channels : ["NO_TRADE_CHANNEL"]
  let text = `{"foodClass":"Branded","description":${JSON.stringify(label.description)},"foodNutrients":[${amounts}],`
  text += `"foodAttributes":${formatChanges(label.changes.toReversed(), updateLog)},`
  text += `${formatDay("modifiedDate", label.modified)}${formatDay("availableDate", label.available)}${formatDay("discontinuedDate", label.discontinued)}`
  text += `"marketCountry":"${label.market_country}",`
  text += formatOptional("brandOwner", label.brand_owner, label.data_source === "GDSN")
  text += formatOptional("brandName", label.brand_name, includesEmpty)
  text += formatOptional("subbrandName", label.subbrand_name, false)
  text += `"gtinUpc":"${label.gtin_upc}","dataSource":"${label.data_source}",`
  text += formatOptional("ingredients", label.ingredients, includesEmpty)
  text += `"servingSize":${label.serving_size},`
  text += formatOptional("servingSizeUnit", label.serving_size_unit, includesEmpty)
  text += formatOptional("householdServingFullText", label.household_serving_fulltext, includesEmpty)
  text += formatOptional("shortDescription", label.short_description, false)
  text += formatOptional("packageWeight", label.package_weight, false)
  text += formatOptional("preparationStateCode", label.preparation_state_code, false)
  text += label.gpc_class_code === 0 ? "" : `"gpcClassCode":${label.gpc_class_code},`
  text += formatOptional("caffeineStatement", label.caffeine_statement, false)
  text += formatOptional("footnote", label.footnote, false)
  text += formatOptional("materialCode", label.material_code, false)
  text += `"labelNutrients":${formatLabelNutrients(label)},"tradeChannels":${JSON.stringify(channels)},"microbes":[],`
  text += formatOptional("brandedFoodCategory", label.category, includesEmpty)
  text += `"fdcId":${label.fdc_id},"dataType":"Branded","publicationDate":"${formatAmericanDate(label.published)}","foodUpdateLog":[${formatHeadline(label)}`
  for (const version of older) text += `,${formatHeadline(version)}`
  return `${text}]}`
}

/** Writes the JSON form to `file`. */
export const writeJsonRelease = async (file: string, size: ReleaseSize): Promise<JsonCounts> => {
  mkdirSync(dirname(file), { recursive: true })
  const release = new Labels(size)
  const sinks = new Sinks()
  try {
    const sink = sinks.open(file)
    sink.write('{"BrandedFoods": [\n')
    let [foods, rows] = [0, 0]
    for (const { label, older } of release.drawCurrent()) {
      sink.write(`${foods === 0 ? "" : ",\n"}${formatRecord(label, older)}`)
      foods += 1
      rows += label.amounts.length
    }
    sink.write("\n]}")
    return { foods, nutrients: rows }
  } finally {
    sinks.close()
  }
}
