/**
 * Preloaded into a program under test, which then is the version of Larder that TEST_VERSION names. Version 1 has the
 * current tables. Each later version changes the tables of commodities once more.
 */
import { commodity, type DataSet } from "@larder/warehouse"
import { withColumn, withDefinition, withoutTable, withTable } from "./other-versions.ts"

const changes: ReadonlyArray<(before: DataSet) => DataSet> = [
  (before) => withTable(withColumn(before, "series", "colour"), "note"),
  (before) => withoutTable(withDefinition(before, "series", "position integer", "position smallint"), "note")
]
const version = Number(process.env.TEST_VERSION)
const versioned = changes.slice(0, version - 1).reduce((before, change) => change(before), commodity)
const current = new Map(commodity.tables.map((table) => [table.name, table]))
// in place, because pipelines refer to the table objects
const tables = versioned.tables.map((table) => Object.assign(current.get(table.name) ?? {}, table))
Object.assign(commodity, { version, tables })
