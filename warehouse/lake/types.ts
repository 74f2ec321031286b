/** Maps the types of DuckDB's columns to those of DuckLake and Delta. */

interface LakeType {
  /** DuckLake's name of the type: `int32`, `decimal(18,6)`, `list`, `struct`. */
  readonly type: string
  readonly children: ReadonlyArray<NamedType>
}

/** A column, or a field or element inside one. */
export interface NamedType extends LakeType {
  readonly name: string
}

/** A column or field with the permanent id by which DuckLake finds it in a file. */
export interface LakeField extends NamedType {
  readonly id: number
  readonly children: ReadonlyArray<LakeField>
}

/** JSON is written as text: readers of Delta would see the JSON type of Parquet as bytes. */
const ducklakeTypes: Readonly<Record<string, string>> = {
  BIGINT: "int64",
  BOOLEAN: "boolean",
  DATE: "date",
  DOUBLE: "float64",
  INTEGER: "int32",
  JSON: "varchar",
  SMALLINT: "int16",
  TIMESTAMP: "timestamp",
  VARCHAR: "varchar"
}

const deltaTypes: Readonly<Record<string, string>> = {
  boolean: "boolean",
  date: "date",
  float64: "double",
  int16: "short",
  int32: "integer",
  int64: "long",
  timestamp: "timestamp_ntz",
  varchar: "string"
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
export const parseType = (type: string): LakeType => {
  if (type.endsWith("[]")) return { type: "list", children: [{ name: "element", ...parseType(type.slice(0, -2)) }] }
  if (type.startsWith("DECIMAL(")) return { type: type.toLowerCase(), children: [] }
  if (type.startsWith("STRUCT(")) {
    const children = splitFields(type.slice("STRUCT(".length, -1)).map((field) => {
      const [, name = "", rest = ""] = /^("(?:[^"]|"")*"|\S+)\s+(.*)$/s.exec(field) ?? []
      return { name: name.replace(/^"|"$/g, "").replaceAll('""', '"'), ...parseType(rest) }
    })
    return { type: "struct", children }
  }
  const name = ducklakeTypes[type]
  if (name === undefined) throw new Error(`the lake does not support columns of the type ${type}`)
  return { type: name, children: [] }
}

const toDeltaType = ({ children, type }: LakeField): unknown => {
  const [element] = children
  if (type === "list" && element !== undefined) {
    return { type: "array", elementType: toDeltaType(element), containsNull: true }
  }
  if (type === "struct") return toDeltaStruct(children.map((field) => ({ field })))
  return deltaTypes[type] ?? type
}

export const toDeltaStruct = (
  fields: ReadonlyArray<{ readonly field: LakeField; readonly comment?: string | null }>
) => ({
  type: "struct",
  fields: fields.map(({ comment = null, field }) => ({
    name: field.name,
    type: toDeltaType(field),
    nullable: true,
    metadata: comment === null ? {} : { comment }
  }))
})

export const isSameType = (a: LakeType, b: LakeType): boolean =>
  a.type === b.type &&
  a.children.length === b.children.length &&
  a.children.every((child, index) => {
    const other = b.children[index]
    return other?.name === child.name && isSameType(child, other)
  })
