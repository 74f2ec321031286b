/**
 * Tables of the warehouse schema `branded_food`. One row of `food` is one label version. The tables of versions and
 * categories and the views are derived from it.
 */
import { Schema, Struct } from "effect"
import { described, refersTo } from "../described.ts"
import { BrandedFood, FoodCategory, Nutrient, Nutrition } from "./records.ts"

const list = (description: string) => Schema.NullOr(Schema.Array(Schema.Unknown)).annotate({ description })

/** `branded_food.nutrition` uses such an amount, if stated, instead of calculating it, except for vitamin D. */
const labelAmount = (nutrient: string) =>
  described.numberOrNull(
    `${nutrient} per serving, as stated by the release itself; null if it states none. Only the JSON release states it.`
  )

const { id: _id, nutrition: _nutrition, source: _source, fetched_at, ...labelFields } = BrandedFood.fields

export const FoodRow = Schema.Struct({
  ...labelFields,
  gtin_14: described.textOrNull(
    "The barcode, padded with zeros to 14 digits; null if it is not a barcode. Check digits are not repaired."
  ),
  trade_channels: list("Channels through which the product is sold, each once, in alphabetical order."),
  nutrients: list(
    "Published nutrients per 100 g, or per 100 ml if the serving is measured in ml; also as rows in `branded_food.nutrient_amount`."
  ),
  label_calories: labelAmount("Energy in kcal"),
  label_fat: labelAmount("Total fat in g"),
  label_saturated_fat: labelAmount("Saturated fatty acids in g"),
  label_trans_fat: labelAmount("Trans fatty acids in g"),
  label_cholesterol: labelAmount("Cholesterol in mg"),
  label_sodium: labelAmount("Sodium in mg"),
  label_carbohydrates: labelAmount("Carbohydrates in g, fiber included,"),
  label_fiber: labelAmount("Total dietary fiber in g"),
  label_sugars: labelAmount("Total sugars in g"),
  label_added_sugar: labelAmount("Added sugars in g"),
  label_protein: labelAmount("Protein in g"),
  label_calcium: labelAmount("Calcium in mg"),
  label_iron: labelAmount("Iron in mg"),
  label_potassium: labelAmount("Potassium in mg"),
  label_vitamin_d: labelAmount("Vitamin D, in a unit that is not documented,"),
  attributes: list("Remarks of the source on the record. Nearly all of them describe what an update changed."),
  daily_values: list(
    "Percent of the daily value on the label, with one entry for each amount of the CSV release, in the order of the nutrients. Only that release has them."
  ),
  not_a_significant_source_of: described.textOrNull(
    "Statement of the label on nutrients that the food does not contain in significant amounts. Only the CSV release has it."
  ),
  material_code: described.textOrNull("Material code as published; its meaning is not documented."),
  earlier_versions: list("Earlier versions of this label that the JSON release lists, with their publication days."),
  quality_flags: list(
    "What looks wrong in the record, or could not be read; also as rows in `branded_food.quality_flag`. An implausible value is published as it is; one that cannot be read is null."
  ),
  source_rows: described.integer(
    "Payload rows for this label in the run that last changed it: 1 in JSON; in CSV its rows in all files together."
  ),
  form: described.oneOf(["json", "csv", "both"], "Form of the release that contains the label: json, csv, or both."),
  release_on: described.textOrNull(
    "Day of the newest release with something new about the label; null if the file did not state it."
  ),
  fetched_at,
  run_id: refersTo("ingest.run.run_id", described.text("Run that last changed the row.")),
  raw_sha256: refersTo("ingest.raw_file.raw_sha256", described.text("Last payload with something new about the label."))
}).annotate({
  identifier: "branded_food.food",
  description:
    "Label versions of packaged foods, one row for each, including versions that a later one has replaced. JSON and CSV releases are merged by fdc_id. `branded_food.current_food` has the current versions."
})

export const NutrientRow = Schema.Struct(
  Struct.pick(Nutrient.fields, ["nutrient_id", "number", "name", "unit"])
).annotate({ identifier: "branded_food.nutrient", description: "The nutrients of FoodData Central." })

export const DerivationRow = Schema.Struct({
  derivation_id: described.integer(
    "Id of the derivation: `branded_food.nutrient_amount.derivation_id`. Ids from 901 are Larder's own."
  ),
  derivation: described.textOrNull("Code of the derivation, such as LCCS."),
  description: described.textOrNull("How amounts with this code were determined.")
}).annotate({
  identifier: "branded_food.derivation",
  description: "How amounts were determined. LCCD amounts were calculated back from rounded percentages."
})

export const VersionRow = Schema.Struct({
  ...Struct.pick(FoodRow.fields, ["fdc_id", "data_source", "gtin_14"]),
  version: described.integer(
    "Position of the version in the history of its product (data source and barcode), from 1 for the oldest."
  ),
  versions: described.integer("How many versions of the product are known."),
  is_current: described.flag(
    "Whether this is the current version of its product: the one with the latest publication day, then available day, modified day and fdc_id."
  ),
  is_loaded: described.flag("False for versions of which only the id is known, from the update log of a later one."),
  published_on: FoodRow.fields.published_on,
  replaced_by: refersTo(
    "branded_food.version.fdc_id",
    described.integerOrNull("The next version; null for the current one.")
  )
}).annotate({
  identifier: "branded_food.version",
  description: "Every known version of every product. A label without a barcode is a separate product."
})

export const CategoryRow = FoodCategory.annotate({
  identifier: "branded_food.category",
  description: "Categories of current labels, with the number of products in each."
})

export const CurrentFoodRow = FoodRow.annotate({
  identifier: "branded_food.current_food",
  description: "The current label of each product: what search and categories cover."
})

const labelId = refersTo("branded_food.food.fdc_id", described.integer("Label version."))

export const NutrientAmountRow = Schema.Struct({
  fdc_id: labelId,
  position: described.integer("Position of the amount among those of the label, from 1, as published."),
  nutrient_id: refersTo("branded_food.nutrient.nutrient_id", described.integer("Nutrient.")),
  amount: described.numberOrNull(
    "Amount per 100 g, or per 100 ml if the serving is measured in ml, in the nutrient's unit; to six decimal places."
  ),
  derivation_id: refersTo(
    "branded_food.derivation.derivation_id",
    described.integerOrNull("How the amount was determined; null if the source does not state it.")
  ),
  percent_daily_value: described.numberOrNull("Percent of the daily value on the label. Only the CSV release has it.")
}).annotate({
  identifier: "branded_food.nutrient_amount",
  description: "One row for each published nutrient amount of each label version. A nutrient may occur twice."
})

export const NutritionRow = Schema.Struct({
  fdc_id: labelId,
  ...Object.fromEntries(
    Object.entries(Nutrition.fields).map(([key, nutrient]) => [
      key,
      described.numberOrNull(Schema.resolveAnnotations(nutrient)?.description ?? key)
    ])
  )
}).annotate({
  identifier: "branded_food.nutrition",
  description:
    "One row per label version: its nutrition per serving, to three significant digits: the label's own value if the release states it, otherwise amount × serving / 100, rounded half to even, with the serving in g or ml: `branded_food.serving_amount(serving_size, serving_size_unit)`. Null if the amount is not stated, or the serving is in a unit that is not one of mass or volume; all are null without a serving size."
})

export const QualityFlagRow = Schema.Struct({
  fdc_id: labelId,
  flag: described.text(
    "What looks wrong: gtin_missing, gtin_placeholder (zeros alone, fewer than five digits, or five to seven with a wrong check digit, which is no barcode), gtin_unreadable, gtin_check_digit, serving_size_zero, serving_unit_miscoded, serving_unit_unknown (not a unit of mass or volume), country_unknown, category_unreadable, gpc_class_unreadable, discontinued_unreadable (a day that was stated is not known, so the product may be discontinued), trade_channels_unreadable, no_nutrients, nutrient_twice, energy_impossible (above 905 kcal), mass_impossible (protein, fat and carbohydrates together above 110 g), amount_impossible (one amount above 110 g, cholesterol above 5 g or sodium above 45 g), part_exceeds_whole (more sugars than carbohydrates or more saturated fat than fat, beyond rounding), amount_negative, nutrient_unit_unusable (an amount is left out because its unit cannot be converted to that of the nutrient, such as kJ to kcal), label_row_missing (no readable row in the file of the labels, only its name and amounts), part_rejected (a row or an amount of the label could not be read: what it said is missing, or is from another release or form)."
  )
}).annotate({
  identifier: "branded_food.quality_flag",
  description:
    "What looks wrong in a label, with one row for each label and finding. Flagged values are published unchanged, but those that cannot be read are null: `ingest.odd_value` has their texts."
})
