/**
 * The keys of the tables and views of one schema, and the references between them, as an entity diagram for Mermaid. A view
 * that only selects rows of a table, and has its columns, is left out.
 */
import type { Column, Reference, Relation } from "./definitions.ts"

export const renderDiagram = (
  relations: ReadonlyArray<Relation>,
  columns: ReadonlyArray<Column>,
  references: ReadonlyArray<Reference>
): string => {
  const columnsOf = ({ name, schema }: Relation) =>
    columns.filter((column) => column.schema === schema && column.relation === name)
  const listNames = (relation: Relation) =>
    columnsOf(relation)
      .map(({ name }) => name)
      .join()
  const ofTables = new Set(relations.filter(({ isTable }) => isTable).map(listNames))
  const shown = relations.filter((relation) => relation.isTable || !ofTables.has(listNames(relation)))
  const names = new Map(shown.map(({ name, schema }) => [`${schema}.${name}`, name]))
  const drawn = references.filter(({ relation, schema, to }) => names.has(`${schema}.${relation}`) && names.has(to))

  const entities = shown.map((relation) => {
    const referring = drawn.filter((reference) => reference.relation === relation.name).flatMap((one) => one.columns)
    const keyMark = relation.keyKind === "unique" ? "UK" : "PK" // null is no value of a primary key
    const lines = columnsOf(relation).flatMap(({ name, type }) => {
      const marks = [relation.key.includes(name) ? keyMark : "", referring.includes(name) ? "FK" : ""].filter(Boolean)
      return marks.length === 0 ? [] : [`    ${type} ${name} ${marks.join(", ")}`]
    })
    return [`  ${relation.name} {`, ...lines, "  }"].join("\n")
  })
  const keys = new Map(shown.map(({ key, name }) => [name, key.join()]))
  const edges = drawn.map(({ columns: [column], relation, schema, to }) => {
    const isNullable = columns.some(
      (one) => one.schema === schema && one.relation === relation && one.name === column && one.isNullable
    )
    const referring = keys.get(relation) === column ? "o|" : "o{" // a whole key occurs only once
    return `  ${names.get(to)} ${isNullable ? "|o" : "||"}--${referring} ${relation} : ${column}`
  })
  return ["```mermaid", "erDiagram", ...entities, ...edges, "```"].join("\n")
}
