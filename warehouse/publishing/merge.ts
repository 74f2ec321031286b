/**
 * Merges a run's staged rows into a data set. First the staging file is reconciled, and rows that the live generation
 * has are removed from it; then the rest is moved. A table's `merge` defines what counts as new.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import type { DataSet, Merge, OwnedTable, Table } from "../tables/tables.ts"
import { attachLiveData, type LiveDataSet, showLive } from "./live-data-set.ts"

type Db = DuckDb["Service"]

const columnsOf = (table: Table) => Object.keys(table.record.fields)
const areEqual = (columns: ReadonlyArray<string>, a: string, b: string) =>
  columns.map((column) => `${a}.${identifier(column)} is not distinct from ${b}.${identifier(column)}`).join(" and ")
const listColumns = (columns: ReadonlyArray<string>) => columns.map(identifier).join(", ")

const Count = Schema.Struct({ rows: Schema.Int })
const count = (db: Db, sql: string) => Effect.map(db.all(Count, sql), ([row]) => row?.rows ?? 0)
const countRows = (db: Db, from: string) => count(db, `select count(*)::integer as rows from ${from}`)

type KeyedMerge = Extract<Merge, { readonly by: "append" | "replace" }>

/** Keeps the first of several rows to append, and the last of several rows that replace. */
const deduplicate = (table: Table, { by, key }: KeyedMerge) => `
  delete from ${qualifiedName(table)} where rowid not in (
    select ${by === "append" ? "min" : "max"}(rowid) from ${qualifiedName(table)} group by ${listColumns(key)}
  )`

/**
 * Rows are compared by 64-bit digests: a million wide rows are too large and too slow to compare side by side. The
 * digest is of JSON, because a digest of the values themselves would not distinguish null from [], or two adjacent lists
 * from one combined list.
 */
const digest = (columns: ReadonlyArray<string>, row: string) =>
  `hash(to_json(struct_pack(${columns.map((column) => `${identifier(column)} := ${row}.${identifier(column)}`).join(", ")})))`

/** A table that owns rows of another one, and the condition under which it owns a row. */
interface Owner {
  readonly table: Table
  readonly joinCondition: string
}

/** Staged rows that are kept without a comparison: rows with a new owner, and owners that have lost rows. */
const selectKept = (table: Table, merge: KeyedMerge, owner: Owner | undefined): string => {
  if (owner !== undefined) {
    return `select o.rowid from ${qualifiedName(table)} o, ${qualifiedName(owner.table)} t where ${owner.joinCondition}`
  }
  if (merge.by === "append" || merge.ownedTable === undefined) return "select null where false"
  const { joinCondition, table: owned } = merge.ownedTable
  const key = owned.merge.by === "append" ? owned.merge.key : []
  return `
    select t.rowid
    from ${qualifiedName(table)} t, (
      select * from live.${qualifiedName(owned)} l
      where not exists (select 1 from ${qualifiedName(owned)} s where ${areEqual(key, "s", "l")})
    ) o
    where ${joinCondition}`
}

/** The condition under which a staged row `s` adds nothing to the live row `l`. */
const knownCondition = (table: Table, merge: KeyedMerge, owner: Owner | undefined): string => {
  const sameKey = `${areEqual(merge.key, "s", "l")} and s.rowid not in (${selectKept(table, merge, owner)})`
  if (merge.by === "append") return sameKey
  const ignored = ["run_id", ...(merge.ignoredColumns ?? [])]
  const compared = columnsOf(table).filter((column) => !ignored.includes(column))
  return `${sameKey} and ${digest(compared, "s")} = ${digest(compared, "l")}`
}

type CompleteMerge = Extract<Merge, { readonly by: "complete" }>

/** Rows per range: 250,000 labels of about 1.5 kB on each side of the join. */
const maxRangeRows = 250_000

const Range = Schema.Struct({ first: Schema.BigInt, last: Schema.BigInt })

const selectRanges = (staged: string, key: string, rangeRows: number) => `
  select min(${key})::bigint as first, max(${key})::bigint as last
  from (select ${key}, (row_number() over (order by ${key}) - 1) // ${rangeRows} as range from ${staged})
  group by range
  order by first`

/** The merged values of a row, as the `set` of an update. */
export const assignments = (columns: ReadonlyArray<string>, expressionFor: CompleteMerge["expressionFor"]) =>
  columns
    .flatMap((column) => {
      const expression = expressionFor(column)
      return expression === undefined ? [] : [`${identifier(column)} = ${expression}`]
    })
    .join(", ")

/**
 * Completes staged rows from the live generation: a row with only part of the known values gets the rest from the live
 * row of its key, and a row that adds nothing is removed. It processes ranges of the key, so wide tables with millions
 * of rows need little memory.
 */
export const completeFromLive = Effect.fnUntraced(function* (
  db: Db,
  staged: string,
  columns: ReadonlyArray<string>,
  { expressionFor, ignoredColumns, key: keyName }: CompleteMerge,
  rangeRows = maxRangeRows
) {
  const key = identifier(keyName)
  const sameRow = columns
    .filter((column) => column !== keyName && !ignoredColumns.includes(column))
    .map(
      (column) => `${expressionFor(column) ?? `s.${identifier(column)}`} is not distinct from l.${identifier(column)}`
    )
    .join(" and ")
  const set = assignments(columns, expressionFor)
  for (const { first, last } of yield* db.all(Range, selectRanges(staged, key, rangeRows))) {
    const sameKeyInRange = `s.${key} = l.${key} and s.${key} between ${first} and ${last} and l.${key} between ${first} and ${last}`
    yield* db.run(`delete from ${staged} s using live.${staged} l where ${sameKeyInRange} and ${sameRow}`)
    yield* db.run(`update ${staged} s set ${set} from live.${staged} l where ${sameKeyInRange}`)
  }
})

/** Removes staged rows that the live table already has, if it exists. Returns whether anything new is left. */
const reduceTable = Effect.fnUntraced(function* (db: Db, table: Table, owner: Owner | undefined, isLive: boolean) {
  const staged = qualifiedName(table)
  const { merge } = table
  switch (merge.by) {
    case "derive":
      return false
    case "complete":
      if (isLive) yield* completeFromLive(db, staged, columnsOf(table), merge)
      break
    case "replace all": {
      if (!isLive) break
      const columns = listColumns(columnsOf(table).filter((column) => !merge.derived?.columns.includes(column)))
      const stagedRows = `select ${columns} from ${staged}`
      const liveRows = `select ${columns} from live.${staged}`
      const differences = `((${stagedRows} except all ${liveRows}) union all (${liveRows} except all ${stagedRows}))`
      return (yield* countRows(db, differences)) > 0
    }
    default: {
      yield* db.run(deduplicate(table, merge))
      const known = knownCondition(table, merge, owner)
      if (isLive) yield* db.run(`delete from ${staged} s using live.${staged} l where ${known}`)
    }
  }
  return (yield* countRows(db, staged)) > 0
})

/** Most runs leave most tables empty. */
const findNonEmpty = Effect.fnUntraced(function* (db: Db, tables: ReadonlyArray<Table>) {
  const counts = tables.map((table, index) => `select ${index} as i from ${qualifiedName(table)} having count(*) > 0`)
  const nonEmpty = yield* db.all(Schema.Struct({ i: Schema.Int }), counts.join(" union all "))
  return new Set(nonEmpty.map(({ i }) => tables[i]))
})

const findOwner = (owned: Table, tables: ReadonlyArray<Table>): Owner | undefined => {
  for (const table of tables) {
    const ownedTable = table.merge.by === "replace" ? table.merge.ownedTable : undefined
    if (ownedTable?.table === owned) return { table, joinCondition: ownedTable.joinCondition }
  }
  return undefined
}

export interface Reduced {
  readonly changed: ReadonlyArray<Table>
  /** Source rows of all staged rows, and of those that are new. */
  readonly sourceRows: number
  readonly newRows: number
}

/** Reduces the staging file to rows that are not live yet. */
export const reduceToNew = Effect.fnUntraced(function* (
  db: Db,
  layout: Layout,
  dataSet: DataSet,
  { file }: LiveDataSet
) {
  const sourceRows = yield* count(db, dataSet.countSourceRows)
  const isLive = file !== undefined
  if (isLive) {
    yield* attachLiveData(db, file)
    yield* showLive(db, layout, dataSet)
  }
  const known = (schema: string) => (name: string) =>
    isLive ? `live.${schema}.${name}` : `(select * from ${schema}.${name} where false)`
  const statements = dataSet.reconcile?.({ known: known(dataSet.schema), knownReads: known("ingest") }) ?? []
  for (const sql of statements) yield* db.run(sql)
  const changed: Array<Table> = []
  const tables = [...stagedIngestTables, ...dataSet.tables]
  const nonEmpty = yield* findNonEmpty(db, tables)
  for (const table of tables) {
    if (!nonEmpty.has(table) && table.merge.by !== "replace all") continue
    const hasNew = yield* reduceTable(db, table, findOwner(table, tables), isLive)
    if (hasNew && dataSet.tables.includes(table)) changed.push(table)
  }
  const newRows = yield* count(db, dataSet.countSourceRows)
  return { changed, sourceRows, newRows } satisfies Reduced
}, Effect.scoped)

const deleteOwned = (table: Table, { joinCondition, table: owned }: OwnedTable) =>
  `delete from ${qualifiedName(owned)} o using staged.${qualifiedName(table)} t where ${joinCondition}`

/** Statements that move the staged rows of a table into the new database. The staging file is attached as `staged`. */
export const moveStatements = (table: Table): ReadonlyArray<string> => {
  const target = qualifiedName(table)
  const columns = listColumns(columnsOf(table))
  const insert = `insert into ${target} (${columns}) select ${columns} from staged.${target}`
  switch (table.merge.by) {
    case "append":
      return [insert]
    case "replace":
      return [
        ...(table.merge.ownedTable ? [deleteOwned(table, table.merge.ownedTable)] : []),
        `delete from ${target} t using staged.${target} s where ${areEqual(table.merge.key, "t", "s")}`,
        insert
      ]
    case "complete":
      return [
        `delete from ${target} where ${identifier(table.merge.key)} in (select ${identifier(table.merge.key)} from staged.${target})`,
        insert
      ]
    case "derive":
      return []
    case "replace all":
      return [`delete from ${target}`, "checkpoint", insert] // the checkpoint frees the old blocks for the new rows
  }
}

/** Statements that rebuild the derived tables and columns of a data set, in the order of its tables. */
export const deriveStatements = ({ tables }: DataSet): ReadonlyArray<string> =>
  tables.flatMap((table) => {
    const { merge } = table
    if (merge.by === "replace all") return merge.derived === undefined ? [] : [merge.derived.update]
    if (merge.by !== "derive") return []
    return [`delete from ${qualifiedName(table)}`, `insert into ${qualifiedName(table)} ${merge.from}`]
  })
