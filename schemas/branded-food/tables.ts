/**
 * Tables of the warehouse schema `branded_food`. One row of `food` is one label version. The tables of versions and
 * categories and the views are derived from it.
 */
import { Schema, Struct } from "effect"
import { described, inUnit, payload, refersTo, transformed } from "../described.ts"
import { BrandedFood, FoodCategory, Nutrient, Nutrition } from "./records.ts"

const list = (description: string) => Schema.NullOr(Schema.Array(Schema.Unknown)).annotate({ description })

const tidiedText = "Trimmed, with single spaces and without doubled quotes and `[[…]]`; the case stays."
const tidied = <S extends Schema.Top>(column: S) => transformed(tidiedText, column)

const brand = (description: string) =>
  transformed(
    `${tidiedText} Names of one company are not unified.`,
    described.textOrNull(`${description}; null if none is stated, or \`NOT A BRANDED ITEM\`.`)
  )

/** `branded_food.nutrition` uses such an amount, if stated, instead of calculating it, except for vitamin D. */
const labelAmount = (nutrient: string, unit: string, remark = "") =>
  inUnit(
    unit,
    described.numberOrNull(
      `${nutrient} in ${unit}${remark} per serving, as stated by the release itself; null if it states none. Only the JSON release states it.`
    )
  )

const { id: _id, nutrition: _nutrition, source: _source, fetched_at, ...labelFields } = BrandedFood.fields

export const FoodRow = Schema.Struct({
  ...labelFields,
  fdc_id: refersTo("branded_food.version.fdc_id", labelFields.fdc_id),
  description: tidied(labelFields.description),
  short_description: tidied(labelFields.short_description),
  brand_owner: brand("Company that owns the brand"),
  brand_name: brand("Brand on the label"),
  subbrand_name: brand("Brand within the brand"),
  category: transformed(
    `${tidiedText} If the label has none, that id, if it is a name. Spellings that differ only in case stay different here, and are one row of \`branded_food.category\`.`,
    described.textOrNull(
      "Branded food category of the source; null if neither the label nor the `food_category_id` of the CSV release states a name."
    )
  ),
  upc: transformed("Trimmed; not padded or repaired.", labelFields.upc),
  package_weight: tidied(labelFields.package_weight),
  serving_size: transformed(
    "0 becomes null, and noise of 32-bit floats is removed: 1.8 for 1.7999999523.",
    inUnit(
      "`serving_size_unit`",
      described.numberOrNull(
        "Serving size in `serving_size_unit`; null if the source states none or 0, or one that could not be read."
      )
    )
  ),
  serving_size_unit: tidied(labelFields.serving_size_unit),
  serving_size_unit_normalized: transformed(
    "From the unit; `MG`, `IU` and `MC` are miscoded, and the household measure or the category decides between g and ml.",
    labelFields.serving_size_unit_normalized
  ),
  household_serving_text: tidied(labelFields.household_serving_text),
  preparation_state_code: transformed(
    "In upper case.",
    described.textOrNull("State of the food for which the nutrition is stated.", "UNPREPARED")
  ),
  market_country: tidied(labelFields.market_country),
  market_country_normalized: transformed(
    "From the name of the country.",
    described.textOrNull(
      "The market country as an ISO 3166-1 alpha-2 code; null if the source states none, or one whose code is not known."
    )
  ),
  trade_channels: transformed(
    "Each once, in alphabetical order.",
    list("Channels through which the product is sold; `[]` if none is stated or could be read.")
  ),
  ingredients: tidied(labelFields.ingredients),
  nutrients: transformed(
    "Amounts in another unit than their nutrient's are converted, to six decimal places.",
    list(
      "Published nutrients per 100 g, or per 100 ml if the serving is measured in ml; `[]` if none is stated. Also as rows in `branded_food.nutrient_amount`."
    )
  ),
  attributes: list(
    "Remarks of the source on the record; `[]` if there are none. Nearly all of them describe what an update changed."
  ),
  caffeine_statement: tidied(labelFields.caffeine_statement),
  footnote: tidied(labelFields.footnote),
  data_source: transformed("In upper case.", labelFields.data_source),
  available_on: labelFields.available_on,
  discontinued_on: described.dayOrNull(
    "Day on which the product was or will be discontinued; null if the source states none, or one that could not be read."
  ),
  gtin_14: transformed(
    "Padded with zeros to 14 digits. Check digits are not repaired.",
    described.textOrNull("The barcode as a GTIN of 14 digits; null if it is not a barcode.")
  ),
  label_calories: labelAmount("Energy", "kcal"),
  label_fat: labelAmount("Total fat", "g"),
  label_saturated_fat: labelAmount("Saturated fatty acids", "g"),
  label_trans_fat: labelAmount("Trans fatty acids", "g"),
  label_cholesterol: labelAmount("Cholesterol", "mg"),
  label_sodium: labelAmount("Sodium", "mg"),
  label_carbohydrates: labelAmount("Carbohydrates", "g", ", fiber included,"),
  label_fiber: labelAmount("Total dietary fiber", "g"),
  label_sugars: labelAmount("Total sugars", "g"),
  label_added_sugar: labelAmount("Added sugars", "g"),
  label_protein: labelAmount("Protein", "g"),
  label_calcium: labelAmount("Calcium", "mg"),
  label_iron: labelAmount("Iron", "mg"),
  label_potassium: labelAmount("Potassium", "mg"),
  label_vitamin_d: described.numberOrNull(
    "Vitamin D per serving, in a unit that is not documented, as stated by the release itself; null if it states none. Only the JSON release states it."
  ),
  daily_values: list(
    "Percent of the daily value on the label, with one entry for each amount of the CSV release that states it, in the order of the nutrients; null if that release states none. Only that release has them."
  ),
  not_a_significant_source_of: tidied(
    described.textOrNull(
      "Statement of the label on nutrients that the food does not contain in significant amounts. Only the CSV release has it."
    )
  ),
  material_code: described.textOrNull("Material code as published; its meaning is not documented."),
  earlier_versions: list(
    "Earlier versions of this label that the JSON release lists, with their publication days; `[]` if it lists none, and null if only the CSV release has the label."
  ),
  quality_flags: transformed(
    "Found by Larder: the source has no such flags.",
    list(
      "What looks wrong in the record, or could not be read; `[]` if nothing does. Also as rows in `branded_food.quality_flag`. An implausible value is published as it is."
    )
  ),
  source_rows: described.integer(
    "Payload rows for this label in the run that last changed it: 1 in JSON; in CSV its rows in all files together."
  ),
  form: described.oneOf(["json", "csv", "both"], "Form of the release that contains the label."),
  release_on: described.textOrNull(
    "Day of the newest release with something new about the label; null if the file did not state it."
  ),
  fetched_at,
  run_id: refersTo("ingest.run.run_id", described.text("Run that last changed the row.")),
  raw_sha256: payload("Last payload with something new about the label")
}).annotate({
  identifier: "branded_food.food",
  description:
    "One row per label version of a packaged food (`fdc_id`), including versions that a later one has replaced. JSON and CSV releases are merged. `branded_food.current_food` has the current versions."
})

export const NutrientRow = Schema.Struct(
  Struct.pick(Nutrient.fields, ["nutrient_id", "number", "name", "unit"])
).annotate({ identifier: "branded_food.nutrient", description: "One row per nutrient of FoodData Central." })

export const DerivationRow = Schema.Struct({
  derivation_id: described.integer(
    "Id of the derivation: `branded_food.nutrient_amount.derivation_id`. Ids from 901 are Larder's own."
  ),
  derivation: described.textOrNull("Code of the derivation, such as LCCS."),
  description: described.textOrNull("How amounts with this code were determined.")
}).annotate({
  identifier: "branded_food.derivation",
  description:
    "One row per derivation: how amounts were determined. LCCD amounts were calculated back from rounded percentages."
})

const byDays = "Labels are ordered by publication day, then available day, modified day and fdc_id."

export const VersionRow = Schema.Struct({
  fdc_id: labelFields.fdc_id,
  ...Struct.pick(FoodRow.fields, ["data_source", "gtin_14"]),
  version: transformed(
    byDays,
    described.integer(
      "Position of the label in the history of its product (data source and barcode), from 1 for the oldest."
    )
  ),
  version_count: transformed(
    "Counted.",
    described.integer("Number of known labels of the product, including those of which only the id is known.")
  ),
  is_current: transformed(
    byDays,
    described.flag("Whether this is the current version of its product; false if only its id is known.")
  ),
  is_current_of_gtin: transformed(
    byDays,
    described.flag(
      "Whether it is the one current version of its barcode, over all data sources: the row of `branded_food.trade_item`. False without a barcode."
    )
  ),
  is_loaded: described.flag("False for versions of which only the id is known, from the update log of a later one."),
  published_on: FoodRow.fields.published_on,
  replaced_by: refersTo(
    "branded_food.version.fdc_id",
    described.integerOrNull("The next version; null for the newest one.")
  )
}).annotate({
  identifier: "branded_food.version",
  description:
    "One row per label version, also of those of which only the id is known: its place in the history of its product. A product is a data source and a barcode; a label without a barcode is a separate product."
})

export const CategoryRow = FoodCategory.annotate({
  identifier: "branded_food.category",
  description:
    "One row per category of current labels, with the number of products in it. Spellings that differ only in case are one category, under the commonest."
})

const labelId = refersTo("branded_food.food.fdc_id", described.integer("Label version."))

export const CurrentFoodRow = Schema.Struct({
  ...FoodRow.fields,
  fdc_id: labelId,
  is_discontinued: transformed(
    "Computed from `discontinued_on` and `quality_flags`.",
    described.flagOrNull(
      "Whether the source states a day on which the product was or will be discontinued (`discontinued_on`); null if that day could not be read. False says only that it states none: the source has no market status."
    )
  )
}).annotate({
  identifier: "branded_food.current_food",
  description:
    "One row per product (data source and barcode; a label without a barcode is a separate product): its current label, which is the one with the latest publication day. Discontinued products stay. Search and categories cover these labels. A barcode with two data sources has two rows: `branded_food.trade_item` has one."
})

export const TradeItemRow = Schema.Struct({
  ...CurrentFoodRow.fields,
  gtin_14: transformed(
    "Padded with zeros to 14 digits. Check digits are not repaired.",
    described.text("The barcode as a GTIN of 14 digits.")
  )
}).annotate({
  identifier: "branded_food.trade_item",
  description:
    "One row per barcode (GTIN): of its rows in `branded_food.current_food`, which has one for each data source, the one with the latest publication day, then available day, modified day and fdc_id. Labels without a barcode are not in it."
})

export const NutrientAmountRow = Schema.Struct({
  fdc_id: labelId,
  position: described.integer("Position of the amount among those of the label, from 1, as published."),
  nutrient_id: refersTo("branded_food.nutrient.nutrient_id", described.integer("Nutrient.")),
  amount: transformed(
    "To six decimal places; converted if it was stated in another unit.",
    inUnit(
      "`branded_food.nutrient.unit`",
      described.numberOrNull(
        "Amount per 100 g, or per 100 ml if the serving is measured in ml, in the unit of its nutrient; null if it is stated in a unit that cannot be converted."
      )
    )
  ),
  derivation_id: refersTo(
    "branded_food.derivation.derivation_id",
    described.integerOrNull("How the amount was determined; null if the source does not state it.")
  ),
  percent_daily_value: inUnit(
    "percent",
    described.numberOrNull("Amount in percent of the daily value, as on the label. Only the CSV release has it.")
  )
}).annotate({
  identifier: "branded_food.nutrient_amount",
  description:
    "One row per label version and position of an amount: a published amount of a nutrient. A nutrient may occur twice."
})

const describeServed = (key: string, nutrient: Schema.Constraint) =>
  (Schema.resolveAnnotations(nutrient)?.description ?? key).replace(/\.$/, "; null if unknown.")
const unitIn = (description: string) => / in (kcal|mg|µg|g)\b/.exec(description)?.[1] ?? ""

const calculated =
  "Calculated from the amount per 100 g or ml and the serving, rounded half to even to three significant digits."

export const NutritionRow = Schema.Struct({
  fdc_id: labelId,
  ...Object.fromEntries(
    Object.entries(Nutrition.fields).map(([key, nutrient]) => {
      const description = describeServed(key, nutrient)
      const column = inUnit(unitIn(description), described.numberOrNull(description))
      return [
        key,
        transformed(key === "vitamin_d" ? calculated : `As the label states it, otherwise: ${calculated}`, column)
      ]
    })
  )
}).annotate({
  identifier: "branded_food.nutrition",
  description:
    "One row per label version: its nutrition per serving. A value is the label's own if the release states it, except for vitamin D; otherwise amount × serving / 100, rounded half to even to three significant digits, with the serving in g or ml: `branded_food.serving_amount(serving_size, serving_size_unit)`. A value is null if neither is known: its amount is not stated, or the serving is in a unit that is not one of mass or volume. All are null without a serving size."
})

export const QualityFlagRow = Schema.Struct({
  fdc_id: labelId,
  flag: described.text(
    "What looks wrong: gtin_missing, gtin_placeholder (zeros alone, fewer than five digits, or five to seven with a wrong check digit, which is no barcode), gtin_unreadable, gtin_check_digit, serving_size_zero, serving_unit_miscoded, serving_unit_unknown (not a unit of mass or volume), country_unknown, category_unreadable, gpc_class_unreadable, discontinued_unreadable (a day that was stated is not known, so the product may be discontinued), trade_channels_unreadable, no_nutrients, nutrient_twice, energy_impossible (above 905 kcal), mass_impossible (protein, fat and carbohydrates together above 110 g), amount_impossible (one amount above 110 g, cholesterol above 5 g or sodium above 45 g), part_exceeds_whole (more sugars than carbohydrates or more saturated fat than fat, beyond rounding), amount_negative, nutrient_unit_unusable (an amount is left out because its unit cannot be converted to that of the nutrient, such as kJ to kcal), label_row_missing (no readable row in the file of the labels, only its name and amounts), part_rejected (a row or an amount of the label could not be read: what it said is missing, or is from another release or form)."
  )
}).annotate({
  identifier: "branded_food.quality_flag",
  description:
    "One row per label version and flag: what looks wrong in the label. Flagged values are published unchanged, but those that cannot be read are null: `ingest.odd_value` has their texts. A label without a flag can still be wrong. The checks find only what is impossible or cannot be read in one label. They do not find a plausible wrong number, amounts that contradict the ingredients, the energy of the macronutrients or an earlier label, a serving size that is too large or too small, amounts per serving in place of those per 100 g, a barcode of another product with a correct check digit, or a wrong category."
})
