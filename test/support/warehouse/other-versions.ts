/** Data sets as another version of Larder defines them. */
import type { DataSet } from "@larder/warehouse"
import type { Table } from "@larder/warehouse/tables/tables.ts"
import { Schema } from "effect"

/** The next version of a data set, with these tables. */
const withTables = (dataSet: DataSet, tables: DataSet["tables"]): DataSet => ({
  ...dataSet,
  version: dataSet.version + 1,
  tables
})
const changeTable = (dataSet: DataSet, name: string, change: (table: Table) => Table) =>
  withTables(
    dataSet,
    dataSet.tables.map((table) => (table.name === name ? change(table) : table))
  )

/** The next version, in which a table has one more column, which may be null. */
export const withColumn = (dataSet: DataSet, name: string, column: string) =>
  changeTable(dataSet, name, (table) => ({
    ...table,
    record: Schema.Struct({
      ...table.record.fields,
      [column]: Schema.NullOr(Schema.String).annotate({ description: "Added in a later version." })
    }).annotate({ description: "With one more column." }),
    ddl: table.ddl.replace(/\)\s*$/, `, ${column} varchar)`)
  }))

/** The next version, in which the definition of a table has another text. */
export const withDefinition = (dataSet: DataSet, name: string, from: string, to: string) =>
  changeTable(dataSet, name, (table) => ({ ...table, ddl: table.ddl.replace(from, to) }))

/** The next version, without a table. */
export const withoutTable = (dataSet: DataSet, name: string) =>
  withTables(
    dataSet,
    dataSet.tables.filter((table) => table.name !== name)
  )
