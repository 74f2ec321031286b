/**
 * Finds labels with an object or list where a text should be: DuckDB accepts it and returns its JSON as the text. Only
 * the record shows whether it is nested or a text that looks like JSON. Hardly any text begins with a bracket, so this
 * test is cheap.
 */

/** The columns of texts that are published as they are. */
const publishedTexts = [
  "description",
  "short_description",
  "brand_owner",
  "brand_name",
  "subbrand_name",
  "category",
  "upc",
  "package_weight",
  "serving_size_unit",
  "household_serving_text",
  "preparation_state_code",
  "market_country",
  "ingredients",
  "caffeine_statement",
  "footnote",
  "data_source",
  "material_code"
]

/** Counts labels of a chunk with a text that begins like the JSON of an object or list. */
export const nestedAfter = (row: number) => {
  const looksNested = (text: string) =>
    `case when starts_with(${text}, '[') then regexp_matches(${text}, '^.["{}\\[\\]0-9tfn-]') else starts_with(${text}, '{') end`
  const inList = (list: string, text: string) => `len(list_filter(${list}, lambda item: ${looksNested(text)})) > 0`
  return `
    select count(*)::integer as rows
    from branded_food.food
    where rowid > ${row} and (
      ${publishedTexts.map((column) => `coalesce(${looksNested(column)}, false)`).join(" or ")}
      or coalesce(${inList("trade_channels", "item")}, false)
      or coalesce(${inList("attributes", "item.name")} or ${inList("attributes", "item.value")}, false)
    )`
}
