/** The tables of the console, in the schema `console`; made where they are missing. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { sumMissing, sumTables } from "./sums.ts"

const tables = [
  "person",
  "removed_person",
  "session",
  "known_browser",
  "invitation",
  "customer",
  "card_to_forget",
  "recharge",
  "payment",
  "reversal",
  "request",
  "usage_of_status",
  "status_of_endpoint",
  "status_of_month",
  "simulated"
]

/**
 * A backup is older than what happened since: a restored session would sign in whoever has signed out or changed the
 * password, and a link that was used would be good again. People sign in anew, and are invited anew; their browsers are
 * known again then.
 */
const neverRestored: ReadonlyArray<string> = ["session", "known_browser", "invitation"]
const isSum = (name: string) => sumTables.some(({ table }) => table === name)
/** Sums are made anew from what was counted. */
export const backedUp: ReadonlyArray<string> = tables.filter((name) => !neverRestored.includes(name) && !isSum(name))
/** Sums come by themselves. */
export const moved: ReadonlyArray<string> = tables.filter((name) => !isSum(name))

export const allTables: ReadonlyArray<string> = tables

/** What both databases make. */
export const tableDefinitions: ReadonlyArray<string> = [
  "create schema if not exists console",
  ...tables.map((name) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim())
]

interface AddedColumn {
  readonly table: string
  readonly column: string
  readonly type: string
}
/** What tables of an earlier version lack. Null is allowed: in the rows that are there, and for servers that write none. */
export const addedColumns: ReadonlyArray<AddedColumn> = [
  { table: "invitation", column: "is_first", type: "boolean" },
  { table: "invitation", column: "person_id", type: "text" },
  { table: "customer", column: "card_since", type: "text" },
  { table: "reversal", column: "is_lost", type: "boolean" }
]
export const addColumn = ({ column, table, type }: AddedColumn) =>
  `alter table console.${table} add column if not exists ${column} ${type}`

/** What a DuckDB file is brought up to date with. */
export const definitions: ReadonlyArray<string> = [...tableDefinitions, ...addedColumns.map(addColumn), ...sumMissing]

/** How many rows each of some tables has, in the order of their names; both databases understand it. */
export const TableCount = Schema.Struct({ name: Schema.String, rows: Schema.Int })
export type TableCount = typeof TableCount.Type
export const countsOf = (names: ReadonlyArray<string>): string => {
  const counts = names.map(
    (name) => `select '${name}' as name, count(*)::double precision as rows from console.${name}`
  )
  return `${counts.join(" union all ")} order by name`
}
