/** The columns of a table in the catalogue, from one snapshot to the next. */
import { Schema } from "effect"
import type { ColumnDefinition, TableDefinition } from "./definitions.ts"
import { type Changes, type Column, catalogue, ending, inserting, type LakeTable, type Value } from "./ducklake.ts"
import { isSameShape, type Node, type Shape } from "./types.ts"

/** Rows of `ducklake_column` for a column and its nested fields. Ids of a table are never reused. */
const columnRows = (
  table: number,
  number: number,
  { comment, is_nullable, name, shape }: ColumnDefinition,
  nextId: () => number
) => {
  const rows: Array<ReadonlyArray<Value>> = []
  const add = (of: string, { children, type }: Shape, isNullable: boolean, parent: number | null): Node => {
    const id = nextId()
    const kind = children.length === 0 ? "literal" : ""
    rows.push([id, number, null, table, id, of, type, null, "NULL", isNullable, parent, kind, "duckdb"])
    return { id, name: of, type, children: children.map(([inside, its]) => add(inside, its, true, id)) }
  }
  return {
    column: { node: add(name, shape, is_nullable, null), is_nullable, comment } satisfies Column as Column,
    rows
  }
}

/** Reconciles the columns of a table. A changed column gets a new id, and is placed after the others. */
export const reconcileColumns = (
  changes: Changes,
  { id, columns }: LakeTable,
  wanted: TableDefinition,
  firstFree: number
): LakeTable => {
  const { number } = changes
  let next = firstFree
  const altered = `altered_table:${id}`
  const kept = (column: Column, definition: ColumnDefinition) =>
    column.node.name === definition.name &&
    column.is_nullable === definition.is_nullable &&
    isSameShape(column.node, definition.shape)
  const reconciled = wanted.columns.map((definition) => {
    const before = columns.find((column) => kept(column, definition))
    if (before !== undefined && before.comment === definition.comment) return before
    if (before !== undefined) {
      const where = `table_id = ${id} and column_id = ${before.node.id} and "key" = 'comment'`
      changes.define(altered, ending("column_tag", number, where))
      changes.statements.push(...commenting(id, number, before.node.id, definition.comment))
      return { ...before, comment: definition.comment }
    }
    const { column, rows } = columnRows(id, number, definition, () => next++)
    changes.define(altered, ...inserting("column", rows), ...commenting(id, number, column.node.id, definition.comment))
    return column
  })
  const left = columns.filter(({ node }) => !reconciled.some((column) => column.node.id === node.id))
  for (const { node } of left) {
    const its = `table_id = ${id} and column_id in (${idsIn(node).join(", ")})`
    changes.define(altered, ending("column", number, its), ending("column_tag", number, its))
  }
  return { id, columns: reconciled }
}

const idsIn = ({ children, id }: Node): ReadonlyArray<number> => [id, ...children.flatMap(idsIn)]
const commenting = (table: number, number: number, column: number, comment: string | null) =>
  comment === null ? [] : inserting("column_tag", [[table, column, number, null, "comment", comment]])

/** The first unused column id of each table. */
export const Free = Schema.Struct({ id: Schema.BigInt, free: Schema.BigInt })
export const freeColumns = `select table_id as id, max(column_id) + 1 as free from ${catalogue}.ducklake_column group by table_id`
