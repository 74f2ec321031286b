/**
 * Merges a run's staged rows into a warehouse. First the staging file is reconciled and reduced to what the live
 * generation does not have yet, then the rest is moved. A table's `merge` defines what counts as new.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { attachLiveData, liveData, showLive } from "../live/live-tables.ts"
import type { LiveDataSet } from "../live/previous.ts"
import { type AddedColumn, columnsToAdd, isDefinedOtherwise, nameOf } from "../tables/earlier-versions.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import type { DataSet, Merge, Owned, Table } from "../tables/tables.ts"
import { completeFromLive } from "./complete.ts"

type Db = DuckDb["Service"]

const columnsOf = (table: Table) => Object.keys(table.record.fields)
const same = (columns: ReadonlyArray<string>, a: string, b: string) =>
  columns.map((column) => `${a}.${identifier(column)} is not distinct from ${b}.${identifier(column)}`).join(" and ")
const listed = (columns: ReadonlyArray<string>) => columns.map(identifier).join(", ")

const Count = Schema.Struct({ rows: Schema.Int })
const count = (db: Db, sql: string) => Effect.map(db.all(Count, sql), ([row]) => row?.rows ?? 0)
const countRows = (db: Db, from: string) => count(db, `select count(*)::integer as rows from ${from}`)

/** Deduplicates staged rows: keeps the first of several added rows, and the last of several replacing rows. */
const withoutRepeats = (table: Table): string | undefined =>
  table.merge.by === "adding" || table.merge.by === "replacing"
    ? `delete from ${nameOf(table)} where rowid not in (
         select ${table.merge.by === "adding" ? "min" : "max"}(rowid) from ${nameOf(table)}
         group by ${listed(table.merge.key)})`
    : undefined

/**
 * Compares rows by 64-bit digests: a million wide rows are too large and too slow to compare side by side. The digest
 * is of JSON, because a digest of the values themselves does not distinguish null from [], or two adjacent lists from
 * one combined list.
 */
const digestOf = (columns: ReadonlyArray<string>, row: string) =>
  `hash(to_json(struct_pack(${columns.map((column) => `${identifier(column)} := ${row}.${identifier(column)}`).join(", ")})))`

/** A table that is merged by adding or replacing. */
interface Merged {
  readonly table: Table
  readonly merge: Extract<Merge, { readonly by: "adding" | "replacing" }>
  /** The table that owns the rows of this table; undefined if none does. */
  readonly owner: (Owned & { readonly by: Table }) | undefined
}

/** Staged rows that are kept without a comparison: rows with a new owner, and owners that have lost rows. */
const standing = ({ merge, owner, table }: Merged): string => {
  if (owner !== undefined) {
    return `select o.rowid from ${nameOf(table)} o, ${nameOf(owner.by)} t where ${owner.of}`
  }
  if (merge.by === "adding" || merge.owning === undefined) return "select null where false"
  const { of, table: owned } = merge.owning
  const key = owned.merge.by === "adding" ? owned.merge.key : []
  return `
    select t.rowid
    from ${nameOf(table)} t, (
      select * from live.${nameOf(owned)} l
      where not exists (select 1 from ${nameOf(owned)} s where ${same(key, "s", "l")})
    ) o
    where ${of}`
}

/** The condition under which a staged row `s` adds nothing to the live row `l`. */
const isKnown = (merged: Merged): string => {
  const { merge, table } = merged
  const isSame = `${same(merge.key, "s", "l")} and s.rowid not in (${standing(merged)})`
  if (merge.by === "adding") return isSame
  const ignored = ["run_id", ...(merge.ignoring ?? [])]
  const compared = columnsOf(table).filter((column) => !ignored.includes(column))
  return `${isSame} and ${digestOf(compared, "s")} = ${digestOf(compared, "l")}`
}

/** Removes staged rows that the live table already has. Returns whether anything new is left. */
const reduceTable = Effect.fnUntraced(function* (db: Db, table: Table, owner: Merged["owner"], live: boolean) {
  const staged = nameOf(table)
  if (table.merge.by === "deriving") return false
  if (table.merge.by === "completing") {
    if (live) yield* completeFromLive(db, nameOf(table), columnsOf(table), table.merge)
    return (yield* countRows(db, staged)) > 0
  }
  const repeats = withoutRepeats(table)
  if (repeats !== undefined) yield* db.run(repeats)
  if (live && table.merge.by === "replacing all") {
    const columns = listed(columnsOf(table))
    const a = `select ${columns} from ${staged}`
    const b = `select ${columns} from live.${staged}`
    return (yield* countRows(db, `((${a} except all ${b}) union all (${b} except all ${a}))`)) > 0
  }
  if (live && table.merge.by !== "replacing all") {
    const merged = { table, merge: table.merge, owner }
    yield* db.run(`delete from ${staged} s using live.${staged} l where ${isKnown(merged)}`)
  }
  return (yield* countRows(db, staged)) > 0
})

/** Most runs leave most tables empty. */
const filledTables = Effect.fnUntraced(function* (db: Db, tables: ReadonlyArray<Table>) {
  const counts = tables.map((table, at) => `select ${at} as at from ${nameOf(table)} having count(*) > 0`)
  const filled = yield* db.all(Schema.Struct({ at: Schema.Int }), counts.join(" union all "))
  return new Set(filled.map(({ at }) => tables[at]))
})

const ownerOf = (table: Table, tables: ReadonlyArray<Table>): Merged["owner"] =>
  tables
    .flatMap((by) => (by.merge.by === "replacing" && by.merge.owning ? [{ ...by.merge.owning, by }] : []))
    .find((owned) => owned.table === table)

export interface Reduced {
  /** Tables of the data set that have new rows. */
  readonly changed: ReadonlyArray<Table>
  /** Whether this version defines a table, a view or a comment that the live database does not have. */
  readonly redefined: boolean
  readonly added: ReadonlyArray<AddedColumn>
  readonly stated_rows: number
  readonly loaded_rows: number
}

/** Reduces the staging file to what is not known yet. */
export const reduceToNew = Effect.fnUntraced(function* (
  db: Db,
  layout: Layout,
  dataSet: DataSet,
  { entry, file }: LiveDataSet
) {
  const stated_rows = yield* count(db, dataSet.countStatedRows)
  let inLive: ReadonlySet<string> = new Set()
  let redefined = false
  let added: ReadonlyArray<AddedColumn> = []
  if (file !== undefined) {
    yield* attachLiveData(db, file)
    redefined = entry === undefined || isDefinedOtherwise(dataSet, entry)
    if (redefined) added = yield* columnsToAdd(db, dataSet, liveData)
    const tables = yield* showLive(db, layout, dataSet, added)
    inLive = new Set([...tables, ...stagedIngestTables.map(({ name, schema }) => `${schema}.${name}`)])
  }
  const known = (schema: string) => (name: string) =>
    inLive.has(`${schema}.${name}`) ? `live.${schema}.${name}` : `(select * from ${schema}.${name} where false)`
  const reconciling = dataSet.reconcile?.({ known: known(dataSet.schema), knownReads: known("ingest") }) ?? []
  yield* Effect.forEach(reconciling, (sql) => db.run(sql), { discard: true })
  const changed: Array<Table> = []
  const tables = [...stagedIngestTables, ...dataSet.tables]
  const filled = yield* filledTables(db, tables)
  for (const table of tables) {
    if (!filled.has(table) && table.merge.by !== "replacing all") continue
    const isKnown = inLive.has(`${table.schema}.${table.name}`)
    const hasNew = yield* reduceTable(db, table, ownerOf(table, tables), isKnown)
    if (hasNew && dataSet.tables.includes(table)) changed.push(table)
  }
  const loaded_rows = yield* count(db, dataSet.countStatedRows)
  return { changed, redefined, added, stated_rows, loaded_rows } satisfies Reduced as Reduced
}, Effect.scoped)

const forget = (table: Table, { of, table: owned }: Owned) =>
  `delete from ${nameOf(owned)} o using staged.${nameOf(table)} t where ${of}`

/** Moves the staged rows of one table into the database that is being built. The staging file is attached as `staged`. */
export const moveTable = (table: Table): ReadonlyArray<string> => {
  const target = nameOf(table)
  const columns = listed(columnsOf(table))
  const insert = `insert into ${target} (${columns}) select ${columns} from staged.${target}`
  switch (table.merge.by) {
    case "adding":
      return [insert]
    case "replacing":
      return [
        ...(table.merge.owning ? [forget(table, table.merge.owning)] : []),
        `delete from ${target} t using staged.${target} s where ${same(table.merge.key, "t", "s")}`,
        insert
      ]
    case "completing":
      return [
        `delete from ${target} where ${identifier(table.merge.key)} in (select ${identifier(table.merge.key)} from staged.${target})`,
        insert
      ]
    case "deriving":
      return []
    case "replacing all":
      return [`delete from ${target}`, "checkpoint", insert] // the checkpoint frees the old blocks for the new rows
  }
}

/** Rebuilds the derived tables of a data set, in their order. */
export const derive = (dataSet: DataSet): ReadonlyArray<string> =>
  dataSet.tables.flatMap((table) =>
    table.merge.by === "deriving"
      ? [`delete from ${nameOf(table)}`, `insert into ${nameOf(table)} ${table.merge.from}`]
      : []
  )
