/**
 * Preloaded into a program under test: it is the version of Larder that TEST_VERSION names. Version 1 has the tables of today, and
 * those of commodities have changed once more with each later one.
 */

import { commodity, type DataSet } from "@larder/warehouse"
import { withColumn, withDefinition, withoutTable, withTable } from "./other-versions.ts"

const changes: ReadonlyArray<(before: DataSet) => DataSet> = [
  (before) => withTable(withColumn(before, "series", "colour"), "note"),
  (before) => withoutTable(withDefinition(before, "series", "position integer", "position smallint"), "note")
]
const version = Number(process.env.TEST_VERSION)
const asOf = changes.slice(0, version - 1).reduce((before, change) => change(before), commodity)
const today = new Map(commodity.tables.map((table) => [table.name, table]))
// pipelines name the tables themselves
const tables = asOf.tables.map((table) => Object.assign(today.get(table.name) ?? {}, table))
Object.assign(commodity, { version, tables })
