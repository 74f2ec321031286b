/**
 * Keys and references as rows, because neither views nor the published files can have constraints: a view
 * `ingest.table_constraint`, made from the `key` of each definition and the references of its record.
 */
import { referenceOf, type TableConstraintKind, TableConstraintRow } from "@larder/schemas"
import { Schema } from "effect"
import { literal } from "../duckdb.ts"
import { keyOf, type Table, type View } from "./tables.ts"

interface Constraint {
  readonly kind: TableConstraintKind
  readonly columns: ReadonlyArray<string>
  /** The referenced column, as `schema.table.column`. */
  readonly references?: string
}

export const isNullable = (field: Schema.Constraint | undefined) =>
  field !== undefined && Schema.is(Schema.toType(field))(null)

export const constraintsOf = (relation: Table | View): ReadonlyArray<Constraint> => {
  const { record } = relation
  if (record === undefined) return []
  const columns = keyOf(relation)
  const kind = columns.some((column) => isNullable(record.fields[column])) ? "unique" : "primary key"
  const references = Object.entries(record.fields).flatMap(([column, field]): ReadonlyArray<Constraint> => {
    const references = referenceOf(field)
    return references === undefined ? [] : [{ kind: "foreign key", columns: [column], references }]
  })
  return [{ kind, columns }, ...references]
}

const list = (names: ReadonlyArray<string>) => `[${names.map(literal).join(", ")}]`

const toRow = ({ name, schema }: Table | View, { columns, kind, references }: Constraint) => {
  const end = references?.lastIndexOf(".") ?? 0
  const [table, column] =
    references === undefined
      ? ["null::varchar", "null::varchar[]"]
      : [literal(references.slice(0, end)), list([references.slice(end + 1)])]
  return `(${literal(schema)}, ${literal(name)}, ${literal(kind)}, ${list(columns)}, ${table}, ${column})`
}

/** The view in a database with these tables and views. */
export const makeConstraintView = (relations: ReadonlyArray<Table | View>): View => {
  const view = {
    schema: "ingest",
    name: "table_constraint",
    record: TableConstraintRow,
    key: ["schema_name", "table_name", "kind", "columns"]
  }
  const all = [...relations, { ...view, ddl: "" }]
  const rows = all.flatMap((relation) => constraintsOf(relation).map((constraint) => toRow(relation, constraint)))
  const columns = Object.keys(TableConstraintRow.fields).join(", ")
  const ddl = `create or replace view ingest.table_constraint as
from (values
  ${rows.join(",\n  ")}
) as listed(${columns})`
  return { ...view, ddl }
}
