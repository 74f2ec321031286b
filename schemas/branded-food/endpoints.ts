/** The three branded-food endpoints. */
import { invalid } from "../api-errors.ts"
import { endpoint, ListBody, PageBody, SingleBody } from "../endpoint.ts"
import { cursor, limit, text } from "../parameters.ts"
import { getBrandedFoodCategoriesExamples, getBrandedFoodExamples, searchBrandedFoodsExamples } from "./examples.ts"
import { BrandedFood, FoodCategory } from "./records.ts"

const aboveMaximum = invalid("limit_too_large", "at most 200 per page")

export const searchBrandedFoods = endpoint({
  id: "searchBrandedFoods",
  path: "/v1/branded-foods",
  scope: "search-branded-foods",
  credits: 10,
  tag: "Branded foods",
  summary: "Search packaged foods",
  description:
    "Current labels that pass every given filter, ordered by `fdc_id`. Without filters, all of them. Texts match anywhere, literally and ignoring case: `%` and `*` mean themselves. Labels are mostly in upper case and spell one thing in many ways: short texts find more. A product can have several labels at once, one of each supplier (`data_source`).",
  parameters: {
    name: text({ description: "The product name (`description`) contains the text.", example: "muffin" }),
    brand: text({ description: "Brand owner, brand name or sub-brand contains the text.", example: "mountain" }),
    category: text({
      description: "The category is exactly this, ignoring case; the categories endpoint lists all.",
      example: "Breads & Buns"
    }),
    barcode: text({
      description:
        "The barcode (GTIN or UPC) is this one, whatever its leading zeros; an 8-digit UPC-E also finds its UPC-A. Digits only: anything else finds nothing.",
      example: "813628784241"
    }),
    ingredient: text({ description: "The ingredient statement contains the text.", example: "sea salt" }),
    limit: limit({
      description: "Foods per page.",
      default: 50,
      maximum: 200,
      above: aboveMaximum
    }),
    cursor
  },
  response: PageBody(BrandedFood),
  examples: searchBrandedFoodsExamples,
  refusals: [aboveMaximum],
  order: ["fdc_id"]
})

export const getBrandedFoodCategories = endpoint({
  id: "getBrandedFoodCategories",
  path: "/v1/branded-foods/categories",
  scope: "search-branded-foods",
  credits: 10,
  tag: "Branded foods",
  summary: "All categories of packaged foods",
  description:
    "Every category that a current label carries, with the number of its products, in the order of their names. Not paged. The names are the source's own: several of them mean nearly the same.",
  parameters: {},
  response: ListBody(FoodCategory),
  examples: getBrandedFoodCategoriesExamples,
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
    "One label version by its id; also versions that a later one has replaced. An id never changes what it names, so it can be kept.",
  parameters: {},
  response: SingleBody(BrandedFood),
  examples: getBrandedFoodExamples,
  refusals: [],
  record: "branded food"
})
