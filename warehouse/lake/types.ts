/** Maps the types of DuckDB's columns to those of Delta. */

type DeltaType =
  | string
  | { readonly type: "array"; readonly elementType: DeltaType; readonly containsNull: true }
  | { readonly type: "struct"; readonly fields: ReadonlyArray<DeltaField> }

interface DeltaField {
  readonly name: string
  readonly type: DeltaType
  readonly nullable: true
  readonly metadata: { readonly comment?: string }
}

/** JSON is written as text: readers of Delta would see the JSON type of Parquet as bytes. */
const plainTypes: Readonly<Record<string, string>> = {
  BIGINT: "long",
  BOOLEAN: "boolean",
  DATE: "date",
  DOUBLE: "double",
  INTEGER: "integer",
  JSON: "string",
  SMALLINT: "short",
  TIMESTAMP: "timestamp_ntz",
  VARCHAR: "string"
}

/** The fields of `a INTEGER, "b c" VARCHAR[]`, split at the commas outside parentheses and quotes. */
const splitFields = (text: string) => {
  const fields: Array<string> = []
  let [depth, isQuoted, start] = [0, false, 0]
  for (const [index, character] of [...text].entries()) {
    if (character === '"') isQuoted = !isQuoted
    if (isQuoted) continue
    if (character === "(") depth++
    if (character === ")") depth--
    if (character === "," && depth === 0) {
      fields.push(text.slice(start, index).trim())
      start = index + 1
    }
  }
  return [...fields, text.slice(start).trim()]
}

/** Parses a type as DuckDB prints it: `STRUCT("name" VARCHAR, amount DECIMAL(18,6))[]`. */
export const toDeltaType = (type: string): DeltaType => {
  if (type.endsWith("[]")) return { type: "array", elementType: toDeltaType(type.slice(0, -2)), containsNull: true }
  if (type.startsWith("DECIMAL(")) return type.toLowerCase()
  if (type.startsWith("STRUCT(")) {
    const fields = splitFields(type.slice("STRUCT(".length, -1)).map((field) => {
      const [, name = "", rest = ""] = /^("(?:[^"]|"")*"|\S+)\s+(.*)$/s.exec(field) ?? []
      return toDeltaField(name.replace(/^"|"$/g, "").replaceAll('""', '"'), rest, null)
    })
    return { type: "struct", fields }
  }
  const name = plainTypes[type]
  if (name === undefined) throw new Error(`the lake does not support columns of the type ${type}`)
  return name
}

/** Delta stores the comment of a column in the metadata of its field. */
export const toDeltaField = (name: string, type: string, comment: string | null): DeltaField => ({
  name,
  type: toDeltaType(type),
  nullable: true,
  metadata: comment === null ? {} : { comment }
})
