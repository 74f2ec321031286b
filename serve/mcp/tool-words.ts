/**
 * Rewrites the schemas' texts about the API for tools: a model has tools instead of endpoints, and arguments instead of
 * parameters.
 */

const words: ReadonlyArray<readonly [ofTheApi: string, ofTools: string]> = [
  ["are at the two endpoints below", "come from get_commodity_prices and get_commodity_metric_values"],
  ["the prices endpoint", "get_commodity_prices"],
  ["the metric-values endpoint", "get_commodity_metric_values"],
  ["the branded-food search", "search_branded_foods"],
  ["the categories endpoint", "get_branded_food_categories"],
  ["the single-food endpoint", "get_branded_food"],
  ["the store search", "search_stores"],
  ["the other store endpoints", "the other store tools"],
  ["a store's products return it", "get_store_products returns it"],
  ["the product endpoint", "get_product"],
  ["this endpoint", "this tool"],
  ["the order of the endpoint", "the order that the tool describes"],
  ["every endpoint", "every tool"],
  ["without parameters", "without arguments"],
  ["kinds of parameters", "kinds of arguments"]
]

export const inToolWords = (text: string): string =>
  words.reduce((said, [ofTheApi, ofTools]) => said.replaceAll(ofTheApi, ofTools), text)
