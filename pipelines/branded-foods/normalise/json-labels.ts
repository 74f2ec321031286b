/** Labels of the JSON release, as SQL. The query is in `json-labels.sql`, and reads the relation `chunk`. */
import { readFileSync } from "node:fs"
import { relationOf } from "../decode/json/keys.ts"
import { type FieldNames, labelsFrom } from "./label.ts"

const stated = readFileSync(new URL("./json-labels.sql", import.meta.url), "utf8")

const fieldNames: FieldNames = {
  description: "description",
  serving_size: "servingSize",
  published_on: "publicationDate",
  available_on: "availableDate",
  modified_on: "modifiedDate",
  discontinued_on: "discontinuedDate"
}

/** The labels of the temporary table `chunk`. */
export const chunkLabels = labelsFrom(`(${stated})`, fieldNames)

/** The labels of a chunk, read from its file in the same statement. */
export const jsonLabels = (path: string) => `with chunk as (from ${relationOf(path)}) from (${chunkLabels})`
