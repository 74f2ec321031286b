/** The branded-food data set as the API presents it, with its three endpoints. */
import { invalid } from "../api-errors.ts"
import { type ApiDataSet, endpoint, ListBody, PageBody, SingleBody } from "../endpoint.ts"
import { cursor, limit, text } from "../parameters.ts"
import * as examples from "./examples.ts"
import { BrandedFood, FoodCategory } from "./records.ts"

export const searchBrandedFoods = endpoint({
  id: "searchBrandedFoods",
  path: "/v1/branded-foods",
  scope: "search-branded-foods",
  credits: 10,
  tag: "Branded foods",
  summary: "Search packaged foods",
  description:
    "Current labels that match every given filter, ordered by `fdc_id`; without filters, all of them. `name`, `brand` and `ingredient` match anywhere in the text, literally and ignoring case: `%` and `*` are ordinary characters. Labels are mostly in upper case and spell the same thing in many ways, so short texts find more. A barcode can have several labels, one from each supplier (`data_source`).",
  use: "Use it to find packaged foods by name, brand, category, barcode or ingredient; each row is the whole label with ingredients and nutrition per serving. Set a low `limit` while exploring: a label is long.",
  parameters: {
    name: text({ description: "The product name (`description`) contains the text.", example: "muffin" }),
    brand: text({ description: "Brand owner, brand name or sub-brand contains the text.", example: "mountain" }),
    category: text({
      description: "The category equals the text, ignoring case; the categories endpoint lists all categories.",
      example: "Breads & Buns"
    }),
    barcode: text({
      description:
        "The barcode (GTIN or UPC) equals the text, regardless of leading zeros; an 8-digit UPC-E also finds its UPC-A. Digits only: any other text finds nothing.",
      example: "813628784241"
    }),
    ingredient: text({ description: "The ingredient statement contains the text.", example: "sea salt" }),
    limit: limit({
      description: "Labels per page.",
      default: 50,
      maximum: 200,
      aboveMaximum: invalid("limit_too_large", "at most 200 per page")
    }),
    cursor
  },
  response: PageBody(BrandedFood),
  examples: examples.searchBrandedFoodsExamples,
  refusals: []
})

export const getBrandedFoodCategories = endpoint({
  id: "getBrandedFoodCategories",
  path: "/v1/branded-foods/categories",
  scope: "search-branded-foods",
  credits: 10,
  tag: "Branded foods",
  summary: "All categories of packaged foods",
  description:
    "Every category of a current label, with the number of its products, ordered by name. Not paged. The names are the source's own, and several of them mean nearly the same.",
  use: "Use it before a search by `category`, which needs the exact name.",
  parameters: {},
  response: ListBody(FoodCategory),
  examples: examples.getBrandedFoodCategoriesExamples,
  refusals: []
})

export const getBrandedFood = endpoint({
  id: "getBrandedFood",
  path: "/v1/branded-foods/:id",
  scope: "get-branded-foods",
  credits: 10,
  tag: "Branded foods",
  summary: "One packaged food",
  description:
    "The label version with this id, even if a later version has replaced it. An id always names the same label version, so it can be stored.",
  use: "Use it for a food whose id is known. Rows of search_branded_foods already contain all of it.",
  parameters: {},
  response: SingleBody(BrandedFood),
  examples: examples.getBrandedFoodExamples,
  refusals: [],
  record: "branded food"
})

export const brandedFoods = {
  pipeline: "branded-foods",
  tag: "Branded foods",
  contents: "packaged-food labels",
  origin: "labels of packaged foods (USDA FoodData Central)",
  about: `Labels of packaged foods: names, brands, barcodes, ingredients, nutrition per serving, and every published nutrient per 100 g or ml.

Source: USDA FoodData Central, branded foods (\`gov-fdc\`, public domain), about two releases a year. The labels are the suppliers' own: much is missing, some values are plainly wrong, and amounts are published as they are. Texts are cleaned (spaces, doubled quotes, double brackets). A serving size with float noise is cleaned (1.7999999523 becomes 1.8), and a serving unit of \`MC\`, \`MG\` or \`IU\` is read as g or ml in \`serving_size_unit_normalized\`. Other units of mass and volume are converted for \`nutrition\`; for any other unit, such as pieces, it has only values that the label itself states per serving. A record is one version of a label, with its own \`fdc_id\`; search and categories cover the current version of each product. A product is identified by its data source and barcode, so a search for one barcode can find two products. Older versions can still be read by id.`,
  firstCall: "branded-foods?name=cheddar&limit=2",
  endpoints: [searchBrandedFoods, getBrandedFoodCategories, getBrandedFood]
} as const satisfies ApiDataSet
