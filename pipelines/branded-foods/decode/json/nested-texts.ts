/**
 * Finds texts that may be objects or lists: DuckDB reads these as their JSON. Few texts begin with a bracket, so few
 * chunks need the slow check of their records, which shows whether a text only looks like JSON.
 */
import { textKeys } from "./keys.ts"

/** Counts labels of a chunk with a text that begins like the JSON of an object or list. */
export const countNestedTexts = (row: number) => {
  const looksNested = (text: string) =>
    `case when starts_with(${text}, '[') then regexp_matches(${text}, '^.["{}\\[\\]0-9tfn-]') else starts_with(${text}, '{') end`
  const anyLooksNested = (list: string, text: string) =>
    `len(list_filter(${list}, lambda item: ${looksNested(text)})) > 0`
  return `
    select count(*)::integer as rows
    from branded_food.food
    where rowid > ${row} and (
      ${Object.values(textKeys)
        .map((column) => `coalesce(${looksNested(column)}, false)`)
        .join(" or ")}
      or coalesce(${anyLooksNested("trade_channels", "item")}, false)
      or coalesce(${anyLooksNested("attributes", "item.name")} or ${anyLooksNested("attributes", "item.value")}, false)
    )`
}
