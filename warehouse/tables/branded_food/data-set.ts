/** Labels of packaged foods, with the files of their records and search. */
import {
  CategoryRow,
  CurrentFoodRow,
  DerivationRow,
  FoodRow,
  NutrientAmountRow,
  NutrientRow,
  NutritionRow,
  QualityFlagRow,
  TradeItemRow,
  VersionRow
} from "@larder/schemas"
import { mergeLabelColumn } from "../../branded-foods/completed-label.ts"
import { servingAmount } from "../../branded-foods/serving-units.ts"
import { buildFoods } from "../../search/build/build.ts"
import { type DataSet, defineMacro, defineTable, defineView, inLake, readSql } from "../tables.ts"
import { widerNumbers } from "../wider-numbers.ts"

export const nutrientTable = defineTable("branded_food", "nutrient", NutrientRow, {
  by: "replace",
  key: ["nutrient_id"]
})
export const derivationTable = defineTable("branded_food", "derivation", DerivationRow, {
  by: "replace",
  key: ["derivation_id"]
})
export const foodTable = defineTable(
  "branded_food",
  "food",
  FoodRow,
  {
    by: "complete",
    key: "fdc_id",
    ignoredColumns: ["source_rows", "form", "release_on", "fetched_at", "run_id", "raw_sha256"],
    expressionFor: mergeLabelColumn
  },
  "published_on"
)

const aboutServingAmount =
  "Grams or millilitres of a serving, from its size and unit: exact, to six decimal places. Null for a unit that is not one of mass or volume; a size without a unit stays as it is."

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
    newest: { in: "data", table: "branded_food.food", day: "max(release_on)" },
    late_after_days: 14
  },
  tables: [
    nutrientTable,
    derivationTable,
    foodTable,
    defineTable("branded_food", "version", VersionRow, {
      by: "derive",
      key: ["fdc_id"],
      from: readSql("branded_food", "versions_of_foods")
    }),
    defineTable("branded_food", "category", CategoryRow, {
      by: "derive",
      key: ["category"],
      from: readSql("branded_food", "categories_of_foods")
    })
  ],
  views: [
    inLake(
      defineView("branded_food", "current_food", CurrentFoodRow, ["fdc_id"], { wider_numbers: widerNumbers(foodTable) })
    ),
    defineView("branded_food", "trade_item", TradeItemRow, ["gtin_14"]),
    defineView("branded_food", "nutrient_amount", NutrientAmountRow, ["fdc_id", "position"]),
    defineView("branded_food", "quality_flag", QualityFlagRow, ["fdc_id", "flag"]),
    defineMacro("branded_food", "per_serving"),
    {
      schema: "branded_food",
      name: "serving_amount",
      ddl: `create or replace macro branded_food.serving_amount${servingAmount}
;
comment on macro branded_food.serving_amount is '${aboutServingAmount}'`
    },
    inLake(defineView("branded_food", "nutrition", NutritionRow, ["fdc_id"]))
  ],
  files: { build: buildFoods },
  countSourceRows: "select coalesce(sum(source_rows), 0)::integer as rows from branded_food.food"
}
