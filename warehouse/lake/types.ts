/**
 * Maps the types of DuckDB's columns to their names in the catalogues of the lake. Every column, field and element has
 * a permanent id, by which DuckLake finds it in a file.
 */

/** A column, or a field or element of one. */
export interface Node {
  readonly id: number
  readonly name: string
  /** DuckLake's name of the type: `int32`, `decimal(18,6)`, `list`, `struct`. */
  readonly type: string
  readonly children: ReadonlyArray<Node>
}

/** A node that has no id yet. */
export interface Shape {
  readonly type: string
  readonly children: ReadonlyArray<readonly [name: string, shape: Shape]>
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
const fieldsIn = (text: string) => {
  const fields: Array<string> = []
  let [depth, isQuoted, start] = [0, false, 0]
  for (const [at, sign] of [...text].entries()) {
    if (sign === '"') isQuoted = !isQuoted
    if (isQuoted) continue
    if (sign === "(") depth++
    if (sign === ")") depth--
    if (sign === "," && depth === 0) {
      fields.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...fields, text.slice(start).trim()]
}

/** Parses a type as DuckDB prints it: `STRUCT("name" VARCHAR, amount DECIMAL(18,6))[]`. */
export const shapeOf = (type: string): Shape => {
  if (type.endsWith("[]")) return { type: "list", children: [["element", shapeOf(type.slice(0, -2))]] }
  if (type.startsWith("DECIMAL(")) return { type: type.toLowerCase(), children: [] }
  if (type.startsWith("STRUCT(")) {
    const children = fieldsIn(type.slice("STRUCT(".length, -1)).map((field) => {
      const [, name = "", rest = ""] = /^("(?:[^"]|"")*"|\S+)\s+(.*)$/s.exec(field) ?? []
      return [name.replace(/^"|"$/g, "").replaceAll('""', '"'), shapeOf(rest)] as const
    })
    return { type: "struct", children }
  }
  const named = ducklakeTypes[type]
  if (named === undefined) throw new Error(`the lake has no name for columns of the type ${type}`)
  return { type: named, children: [] }
}

/** The Delta type for a type that DuckLake names. Structs and lists are described by their fields. */
export const deltaType = (node: Node): unknown => {
  const [element] = node.children
  if (node.type === "list" && element !== undefined) {
    return { type: "array", elementType: deltaType(element), containsNull: true }
  }
  if (node.type === "struct") {
    const fields = node.children.map((child) => ({
      name: child.name,
      type: deltaType(child),
      nullable: true,
      metadata: {}
    }))
    return { type: "struct", fields }
  }
  return deltaTypes[node.type] ?? node.type
}

export const isSameShape = (node: Node, shape: Shape): boolean =>
  node.type === shape.type &&
  node.children.length === shape.children.length &&
  node.children.every((child, at) => {
    const [name, inside] = shape.children[at] ?? ["", undefined]
    return inside !== undefined && child.name === name && isSameShape(child, inside)
  })
