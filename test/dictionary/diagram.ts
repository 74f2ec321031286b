/** The keys of the tables of one schema, and the references between them, as an entity diagram for Mermaid. */
import type { Column, Reference, Relation } from "./definitions.ts"

export const renderDiagram = (
  relations: ReadonlyArray<Relation>,
  columns: ReadonlyArray<Column>,
  references: ReadonlyArray<Reference>
): string => {
  const names = new Map(relations.map(({ name, schema }) => [`${schema}.${name}`, name]))
  const drawn = references.filter(({ relation, schema, to }) => names.has(`${schema}.${relation}`) && names.has(to))

  const entities = relations.map((relation) => {
    const referring = drawn.filter((reference) => reference.relation === relation.name).flatMap((one) => one.columns)
    const lines = columns
      .filter((column) => column.schema === relation.schema && column.relation === relation.name)
      .flatMap(({ name, type }) => {
        const marks = [relation.key.includes(name) ? "PK" : "", referring.includes(name) ? "FK" : ""].filter(Boolean)
        return marks.length === 0 ? [] : [`    ${type} ${name} ${marks.join(", ")}`]
      })
    return [`  ${relation.name} {`, ...lines, "  }"].join("\n")
  })
  const edges = drawn.map(({ columns: [column = ""], relation, to }) => {
    const { isNullable } = columns.find((one) => one.relation === relation && one.name === column) ?? {
      isNullable: false
    }
    return `  ${names.get(to)} ${isNullable ? "|o" : "||"}--o{ ${relation} : ${column}`
  })
  return ["```mermaid", "erDiagram", ...entities, ...edges, "```"].join("\n")
}
