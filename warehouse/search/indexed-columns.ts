/** The texts that the search covers: one line per current label, in ascending fdc_id. */

/**
 * A line feed separates labels, and a carriage return the owner, brand and sub-brand of a label. Published texts have no
 * line breaks; if one has, it must not shift the lines of the others.
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

/** Names of the three files of a column. */
export const textFiles = (column: string) => ({
  texts: `${column}.texts`,
  index: `${column}.index`,
  postings: `${column}.postings`
})

/** Terms in more than a sixteenth of the documents get no posting list: it would restrict the search too little. */
export const maxListedDocuments = (documents: number) => Math.floor(documents / 16)
