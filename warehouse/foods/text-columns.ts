/** The texts that the search looks into: one line per current label, in ascending fdc_id. */

/**
 * Published texts have no line breaks, which are blanks to the loader, so these keep the texts of labels apart, and owner,
 * brand and sub-brand of one label. Should a text have some, they must not shift the lines of the others.
 */
export const neverInText = /[\n\r]/

const line = (sql: string) => `replace(coalesce(${sql}, ''), chr(10), ' ')`
const part = (sql: string) => `replace(coalesce(${sql}, ''), chr(13), ' ')`
const brand = ["brand_owner", "brand_name", "subbrand_name"].map(part).join(" || chr(13) || ")
const select = (sql: string) => `select ${line(sql)} from branded_food.current_food order by fdc_id`

export const textColumns = [
  { column: "names", select: select("description") },
  { column: "brands", select: select(brand) },
  { column: "ingredients", select: select("ingredients") }
] as const
