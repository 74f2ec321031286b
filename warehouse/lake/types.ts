/** Maps the types of DuckDB's columns to those of Delta. */

type DeltaType =
  | string
  | { readonly type: "array"; readonly elementType: DeltaType; readonly containsNull: true }
  | { readonly type: "struct"; readonly fields: ReadonlyArray<object> }

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

/** Delta stores the comment of a column in the metadata of its field. */
const toField = (name: string, type: DeltaType, comment: string | null) => ({
  name,
  type,
  nullable: true,
  metadata: comment === null ? {} : { comment }
})

const takeType = (tokens: Array<string>): DeltaType => {
  const name = tokens.shift() ?? ""
  let type: DeltaType | undefined = plainTypes[name]
  if (name === "DECIMAL") type = `decimal${tokens.splice(0, 5).join("")}`
  if (name === "STRUCT") {
    const fields: Array<object> = []
    while (/^[(,]$/.test(tokens.shift() ?? "")) {
      const field = (tokens.shift() ?? "").replace(/^"|"$/g, "").replaceAll('""', '"')
      fields.push(toField(field, takeType(tokens), null))
    }
    type = { type: "struct", fields }
  }
  if (type === undefined) throw new Error(`the lake does not support columns of the type ${name}`)
  for (; tokens[0] === "[]"; tokens.shift()) type = { type: "array", elementType: type, containsNull: true }
  return type
}

/** A column with its type as DuckDB prints it: `STRUCT("name" VARCHAR, amount DECIMAL(18,6))[]`. */
export const toDeltaField = (name: string, type: string, comment: string | null) => {
  const tokens = type.match(/"(?:[^"]|"")*"|\w+|\[\]|\S/g) ?? []
  const deltaType = takeType(tokens)
  if (tokens.length > 0) throw new Error(`the lake does not support columns of the type ${type}`)
  return toField(name, deltaType, comment)
}
