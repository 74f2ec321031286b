/** Labels of packaged foods, with the files that they are searched in. */
import {
  CategoryRow,
  CurrentFoodRow,
  DerivationRow,
  FoodRow,
  NutrientAmountRow,
  NutrientRow,
  NutritionRow,
  QualityFlagRow,
  VersionRow
} from "@larder/schemas"
import { completedLabel } from "../../branded-foods/completed-label.ts"
import { buildFoods } from "../../search/build/build.ts"
import { type DataSet, sqlOf, table, view } from "../tables.ts"

export const nutrientTable = table("branded_food", "nutrient", NutrientRow, { by: "replacing", key: ["nutrient_id"] })
export const derivationTable = table("branded_food", "derivation", DerivationRow, {
  by: "replacing",
  key: ["derivation_id"]
})
export const foodTable = table(
  "branded_food",
  "food",
  FoodRow,
  {
    by: "completing",
    key: "fdc_id",
    ignoring: ["source_rows", "form", "release_on", "fetched_at", "run_id", "raw_sha256"],
    completed: completedLabel
  },
  "published_on"
)

export const brandedFood: DataSet = {
  schema: "branded_food",
  version: 1,
  about: {
    pipeline: "branded-foods",
    title: "Branded foods",
    description: "Labels of packaged foods of USDA FoodData Central.",
    licence: "CC0 1.0",
    attribution: "USDA FoodData Central",
    source_url: "https://fdc.nal.usda.gov",
    newest: { table: "branded_food.food", day: "max(release_on)" },
    late_after_days: 14
  },
  tables: [
    nutrientTable,
    derivationTable,
    foodTable,
    table("branded_food", "version", VersionRow, { by: "deriving", from: sqlOf("branded_food", "versions_of_foods") }),
    table("branded_food", "category", CategoryRow, {
      by: "deriving",
      from: sqlOf("branded_food", "categories_of_foods")
    })
  ],
  views: [
    view("branded_food", "current_food", CurrentFoodRow),
    view("branded_food", "nutrient_amount", NutrientAmountRow),
    view("branded_food", "quality_flag", QualityFlagRow),
    view("branded_food", "per_serving"),
    view("branded_food", "nutrition", NutritionRow)
  ],
  files: { build: buildFoods },
  countStatedRows: "select coalesce(sum(source_rows), 0)::integer as rows from branded_food.food"
}
