/** Labels of the CSV release, as SQL: `csv-labels.sql` takes a range of fdc_id, so memory does not grow with the release. */
import { readFileSync } from "node:fs"
import { type FieldNames, labelsFrom } from "./label.ts"

/** Needs the tables of the release: DuckDB resolves them when it creates the macro. */
export const createCsvLabels = readFileSync(new URL("./csv-labels.sql", import.meta.url), "utf8")

const fieldNames: FieldNames = {
  description: "description in food.csv",
  serving_size: "serving_size in branded_food.csv",
  published_on: "publication_date in food.csv",
  available_on: "available_date in branded_food.csv",
  modified_on: "modified_date in branded_food.csv",
  discontinued_on: "discontinued_date in branded_food.csv"
}

export const csvLabels = (range: { readonly first: number; readonly last: number }, hasAttributes: boolean) =>
  labelsFrom(`labels_in_csv(${range.first}, ${range.last}, ${hasAttributes})`, fieldNames)
