/**
 * Keys and references as rows, because neither views nor the published files can have constraints: a view
 * `ingest.table_constraint`, made from the `key` of each definition and the references of its record.
 */
import { annotationOf, type TableConstraintKind, TableConstraintRow } from "@larder/schemas"
import { literal } from "../duckdb.ts"
import { isNullable } from "./column-comments.ts"
import { keyOf, type Table, type View } from "./tables.ts"

interface Constraint {
  readonly kind: TableConstraintKind
  readonly columns: ReadonlyArray<string>
  /** The referenced column, as `schema.table.column`. */
  readonly references?: string
}

export const constraintsOf = (relation: Table | View): ReadonlyArray<Constraint> => {
  const { record } = relation
  if (record === undefined) return []
  const columns = keyOf(relation)
  const kind = columns.some((column) => isNullable(record.fields[column])) ? "unique" : "primary key"
  const references = Object.entries(record.fields).flatMap(([column, field]): ReadonlyArray<Constraint> => {
    const references = annotationOf("references", field)
    return references === undefined ? [] : [{ kind: "foreign key", columns: [column], references }]
  })
  return [{ kind, columns }, ...references]
}

const toLine = ({ name, schema }: Table | View, { columns, kind, references = "" }: Constraint) => {
  const end = references.lastIndexOf(".")
  return [schema, name, kind, columns.join(","), references.slice(0, Math.max(end, 0)), references.slice(end + 1)].join(
    ";"
  )
}

/**
 * The view in a database with these tables and views. Its rows are one text: DuckDB stores a list of values as a hundred times
 * as many expressions, and DuckDB 1.1 cannot open a file that 1.5 has updated several times with such a large catalog.
 */
export const makeConstraintView = (relations: ReadonlyArray<Table | View>): View => {
  const view = {
    schema: "ingest",
    name: "table_constraint",
    record: TableConstraintRow,
    key: ["schema_name", "table_name", "kind", "columns"]
  }
  const all = [...relations, { ...view, ddl: "" }]
  const lines = all.flatMap((relation) => constraintsOf(relation).map((constraint) => toLine(relation, constraint)))
  const ddl = `create or replace view ingest.table_constraint as
select
  split_part(line, ';', 1) as schema_name,
  split_part(line, ';', 2) as table_name,
  split_part(line, ';', 3) as kind,
  string_split(split_part(line, ';', 4), ',') as columns,
  nullif(split_part(line, ';', 5), '') as referenced_table,
  string_split(nullif(split_part(line, ';', 6), ''), ',') as referenced_columns
from (select unnest(string_split(${literal(lines.join("\n"))}, chr(10))) as line)`
  return { ...view, ddl }
}
