/**
 * Writes the JSON form: one current label version per line in `{"BrandedFoods": [` … `]}`. `foodUpdateLog` names the
 * version itself, then the older ones. `labelNutrients` is amount × serving size / 100 with three significant digits.
 */
import { mkdirSync } from "node:fs"
import { dirname } from "node:path"
import type { StatedAmount } from "./amounts.ts"
import { formatAmericanDate } from "./days.ts"
import { perServing, scientific } from "./decimals.ts"
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

const amountObject = ({ amount, derivation, id, nutrient }: StatedAmount) => {
  const middle = middles.get(nutrient)?.at(derivation) ?? ""
  return `{"type":"FoodNutrient","id":${id}${middle}${scientific(amount)}}`
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

export const labelNutrients = (label: Label) => {
  if (label.serving.digits === 0 || label.withoutLabelNutrients) return "{}"
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
      text += `${text === "" ? "" : ","}"${key}":{"value":${scientific(perServing(row.amount, label.serving, unitsPerMicrogram))}}`
      break
    }
  return `{${text}}`
}

const updateLog = { id: 998, name: "Update Log", description: "Changes that were made to this food" }
const changes = (list: ReadonlyArray<LoggedChange>, type: object) =>
  JSON.stringify(list.map(({ id, name, value }) => ({ id, name, value, foodAttributeType: type })))

const logged = ({ changes: list, description, fdc_id, published }: Headline) =>
  `{"foodClass":"Branded","description":${JSON.stringify(description)},"foodAttributes":${changes(list, { id: 998 })},"fdcId":${fdc_id},"dataType":"Branded","publicationDate":"${formatAmericanDate(published)}"}`

/** If the label does not state a text, its key is missing, or empty in one record of fifty. */
const optional = (key: string, text: string, asEmpty: boolean) =>
  text !== "" || asEmpty ? `"${key}":${JSON.stringify(text)},` : ""
const date = (key: string, day: number) => (day < 0 ? "" : `"${key}":"${formatAmericanDate(day)}",`)

export const record = (label: Label, older: ReadonlyArray<Headline>) => {
  const asEmpty = label.fdc_id % 50 === 0
  let amounts = ""
  for (const row of label.amounts) amounts += `${amounts === "" ? "" : ","}${amountObject(row)}`
  const channels = label.trade_channels.length > 0 ? label.trade_channels : ["NO_TRADE_CHANNEL"]
  let text = `{"foodClass":"Branded","description":${JSON.stringify(label.description)},"foodNutrients":[${amounts}],`
  text += `"foodAttributes":${changes(label.changes.toReversed(), updateLog)},`
  text += `${date("modifiedDate", label.modified)}${date("availableDate", label.available)}${date("discontinuedDate", label.discontinued)}`
  text += `"marketCountry":"${label.market_country}",`
  text += optional("brandOwner", label.brand_owner, label.data_source === "GDSN")
  text += optional("brandName", label.brand_name, asEmpty)
  text += optional("subbrandName", label.subbrand_name, false)
  text += `"gtinUpc":"${label.gtin_upc}","dataSource":"${label.data_source}",`
  text += optional("ingredients", label.ingredients, asEmpty)
  text += `"servingSize":${label.serving_size},`
  text += optional("servingSizeUnit", label.serving_size_unit, asEmpty)
  text += optional("householdServingFullText", label.household_serving_fulltext, asEmpty)
  text += optional("shortDescription", label.short_description, false)
  text += optional("packageWeight", label.package_weight, false)
  text += optional("preparationStateCode", label.preparation_state_code, false)
  text += label.gpc_class_code === 0 ? "" : `"gpcClassCode":${label.gpc_class_code},`
  text += optional("caffeineStatement", label.caffeine_statement, false)
  text += optional("footnote", label.footnote, false)
  text += optional("materialCode", label.material_code, false)
  text += `"labelNutrients":${labelNutrients(label)},"tradeChannels":${JSON.stringify(channels)},"microbes":[],`
  text += optional("brandedFoodCategory", label.category, asEmpty)
  text += `"fdcId":${label.fdc_id},"dataType":"Branded","publicationDate":"${formatAmericanDate(label.published)}","foodUpdateLog":[${logged(label)}`
  for (const version of older) text += `,${logged(version)}`
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
    for (const { label, older } of release.current()) {
      sink.write(`${foods === 0 ? "" : ",\n"}${record(label, older)}`)
      foods += 1
      rows += label.amounts.length
    }
    sink.write("\n]}")
    return { foods, nutrients: rows }
  } finally {
    sinks.close()
  }
}
