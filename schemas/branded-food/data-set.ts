/** The data set as the API presents it. */
import type { ApiDataSet } from "../data-set.ts"
import { brandedFoodEndpoints } from "./endpoints.ts"

export const brandedFoods = {
  pipeline: "branded-foods",
  tag: "Branded foods",
  holds: "packaged-food labels",
  origin: "labels of packaged foods (USDA FoodData Central)",
  about: `Labels of packaged foods: names, brands, barcodes, ingredients, nutrition per serving, and every published nutrient per 100 g or ml.

Source: USDA FoodData Central, branded foods (\`gov-fdc\`, public domain), about two releases a year. The labels are the suppliers' own: much is missing, some values are plainly wrong, and amounts are published as they are. Texts are only cleaned (spaces, doubled quotes, double brackets), a serving size of 1.7999999523 becomes 1.8, and a serving unit of \`MC\`, \`MG\` or \`IU\` is read as g or ml in \`serving_size_unit_normalized\`. A record is one version of a label, with its own \`fdc_id\`; search and categories cover the current version of each product. A product is a data source and a barcode, so a search for one barcode can find two products. Older versions can still be read by id.`,
  firstCall: "branded-foods?name=cheddar&limit=2",
  scopes: ["search-branded-foods", "get-branded-foods"],
  endpoints: brandedFoodEndpoints
} as const satisfies ApiDataSet
