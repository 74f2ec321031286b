/**
 * Packaged-food labels as the API returns them. A field that the label does not state is null, never "" or 0; an empty
 * list is []. Labels state few fields reliably, so nearly every field may be null.
 */
import { Schema } from "effect"
import { Timestamp } from "../dates.ts"
import { described } from "../described.ts"
import { idOf } from "../ids.ts"

const perServing = (description: string) => Schema.optionalKey(described.number(`${description} per serving.`))

export const Nutrition = Schema.Struct({
  calories: perServing("Energy in kcal, as published in kcal and never converted from kJ,"),
  fat: perServing("Total fat in g"),
  saturated_fat: perServing("Saturated fatty acids in g"),
  trans_fat: perServing("Trans fatty acids in g"),
  cholesterol: perServing("Cholesterol in mg"),
  sodium: perServing("Sodium in mg"),
  carbohydrates: perServing("Carbohydrates in g, fiber included,"),
  fiber: perServing("Total dietary fiber in g"),
  sugars: perServing("Total sugars in g"),
  added_sugar: perServing("Added sugars in g"),
  protein: perServing("Protein in g"),
  calcium: perServing("Calcium in mg"),
  iron: perServing("Iron in mg"),
  potassium: perServing("Potassium in mg"),
  vitamin_d: perServing("Vitamin D in µg (40 IU are 1 µg)")
}).annotate({
  identifier: "BrandedFoodNutrition",
  description:
    "Label nutrition per serving, to three significant digits. A nutrient that the label does not state has no key; without a serving size, there are no keys at all. If `serving_size_unit` is not a unit of mass or volume, only the label's own values per serving have keys."
})

export const Nutrient = Schema.Struct({
  nutrient_id: described.integer("FoodData Central id of the nutrient; stable.", 1003),
  number: described.textOrNull("Nutrient number of the older USDA databases, as text: some have decimals.", "203"),
  name: described.textOrNull(
    "Name of the nutrient. Names differ between releases; use `nutrient_id` instead.",
    "Protein"
  ),
  unit: described.textOrNull("Unit of `amount`, such as g, mg, µg, kcal, kJ or IU.", "g"),
  amount: described.numberOrNull("Amount per 100 g, or per 100 ml if the serving is measured in ml.")
}).annotate({ identifier: "BrandedFoodNutrient", description: "One published nutrient, per 100 g or 100 ml." })

const FoodAttribute = Schema.Struct({
  name: described.textOrNull(
    "Name of the attribute. Nearly all of them describe what an update changed, such as `Nutrient Added`."
  ),
  value: described.textOrNull("Value as published; for updates, a short code.")
}).annotate({ identifier: "BrandedFoodAttribute", description: "A remark of the source on the record." })

export const BrandedFood = Schema.Struct({
  id: idOf("brandedFood").annotate({
    description: "Opaque id of this label version; the same after every load. Pass it to the single-food endpoint."
  }),
  fdc_id: described.integer("FoodData Central id of this label version. A changed label gets a new one.", 1106457),
  description: described.text("Product name as on the label, mostly in upper case.", "DUBBLE BUBBLE, BUBBLE GUM"),
  short_description: described.textOrNull("Short text of the product for receipts and shelves."),
  brand_owner: described.textOrNull("Company that owns the brand."),
  brand_name: described.textOrNull("Brand on the label."),
  subbrand_name: described.textOrNull("Brand within the brand."),
  category: described.textOrNull(
    "Branded food category of the source; the categories endpoint lists all.",
    "Chewing Gum & Mints"
  ),
  gpc_class_code: described.integerOrNull(
    "GS1 Global Product Classification class. Stated only by manufacturers that publish through GDSN."
  ),
  upc: described.textOrNull(
    "Barcode (GTIN or UPC) with its digits as published, including leading zeros; null if it is no barcode: zeros alone, fewer than five digits, or five to seven with a wrong check digit. Other check digits are not verified.",
    "059642932491"
  ),
  package_weight: described.textOrNull("Net content of the package, in words.", "12 oz/340 g"),
  serving_size: described.numberOrNull("Serving size in `serving_size_unit`; null if the source states 0."),
  serving_size_unit: described.textOrNull(
    "Unit of the serving size as published, such as `g`, `GRM` or `MLT`. `MG`, `IU` and `MC` are miscoded g or ml. For `nutrition`, other units of mass and volume (UNECE Recommendation 20, such as `ONZ` or `LTR`) are converted to g or ml."
  ),
  serving_size_unit_normalized: Schema.NullOr(Schema.Literals(["g", "ml"])).annotate({
    description: "The unit that is meant, if the size is in g or ml; null for any other unit, or if none is stated."
  }),
  household_serving_text: described.textOrNull("The serving in household measures, as published.", "1 PIECE"),
  preparation_state_code: described.textOrNull(
    "State of the food for which the nutrition is stated, in upper case.",
    "UNPREPARED"
  ),
  market_country: described.textOrNull("Country where the product is sold, as published."),
  market_country_normalized: described.textOrNull("The market country as an ISO 3166-1 alpha-2 code.", "US"),
  trade_channels: Schema.Array(Schema.String).annotate({
    description: "Channels through which the product is sold, each once, such as `GROCERY`; [] if none is stated."
  }),
  ingredients: described.textOrNull("Ingredient statement of the label."),
  nutrition: Nutrition,
  nutrients: Schema.Array(Nutrient).annotate({ description: "Every published nutrient, per 100 g or 100 ml." }),
  attributes: Schema.Array(FoodAttribute).annotate({ description: "Remarks of the source on the record." }),
  caffeine_statement: described.textOrNull("Caffeine statement of the label."),
  footnote: described.textOrNull("Footnote of the source on the record."),
  data_source: described.textOrNull(
    "Who supplied the label: LI (Label Insight), GDSN (the manufacturers' data network) or NZGDSN (the same for New Zealand).",
    "LI"
  ),
  published_on: described.dayOrNull("Day on which the source published this version."),
  available_on: described.dayOrNull(
    "Day of availability as published. Do not rely on it: it is `published_on` for some labels and `modified_on` for others."
  ),
  modified_on: described.dayOrNull("Day on which the supplier last changed the label."),
  discontinued_on: described.dayOrNull(
    "Day on which the product was discontinued; null if the source does not state one."
  ),
  source: Schema.Literal("gov-fdc").annotate({
    description: "Where the record comes from: USDA FoodData Central, branded foods (gov-fdc)."
  }),
  fetched_at: Timestamp.annotate({ description: "When the payload with the record was fetched, in UTC." })
}).annotate({
  identifier: "BrandedFood",
  description:
    "One version of the label of a packaged food. Search and categories cover the current version of each product (data source and barcode); earlier versions can still be read by id."
})

export const FoodCategory = Schema.Struct({
  category: described.text("Category name; passed to the search as `category`."),
  product_count: described.integer("Products whose current label is in the category.")
}).annotate({ identifier: "BrandedFoodCategory", description: "A category with the number of its products." })
