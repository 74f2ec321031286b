/**
 * The tables of the ledger in SQLite, the triggers that record every state of accounts, keys and payments, and functions
 * that read rows. The tables are strict, so every value has the type of its column.
 */
import { readFileSync } from "node:fs"
import type { SqlCell, Sqlite, SqliteRow } from "../../persistence/index.ts"
import { type RecordedTable, recordedColumns, recordedTables } from "../chain/recorded-tables.ts"

const readTable = (name: string) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()

export const ledgerTables: ReadonlyArray<string> = ["account", "api_key", "entry", "record"].map(readTable)

export const sumsTables: ReadonlyArray<string> = ["entry_place", "usage"].map(readTable)

export const recordInSqlite = (table: RecordedTable, row: string): string =>
  `json_object(${recordedColumns[table].map((column) => `'${column}', ${row}.${column}`).join(", ")})`

const createTrigger = (table: RecordedTable, change: "insert" | "update") => `
  create trigger ${change}_of_${table} after ${change} on ${table} begin
    insert into record (after_entry, kind, body)
    values ((select coalesce(max(sequence), 0) from entry), '${table}', ${recordInSqlite(table, "new")});
  end`

/** A recharge that was not sent to the processor is removed if the balance turns out to be high enough. */
const createRemovalTrigger = `
  create trigger delete_of_payment after delete on payment begin
    insert into record (after_entry, kind, body)
    values ((select coalesce(max(sequence), 0) from entry), 'payment',
      json_object('id', old.id, 'removed', json('true')));
  end`

export const recordingTriggers: ReadonlyArray<string> = [
  ...recordedTables.flatMap((table) => [createTrigger(table, "insert"), createTrigger(table, "update")]),
  createRemovalTrigger
]

export const entryColumns = `sequence, account_id, position, type, occurred_at, key_id, endpoint, credits, balance,
  budget_credits, request_id, note, hash`

/**
 * Rows with the fields of `A` as columns: the tables are strict. Copies the rows, because Node creates them without a
 * prototype, and such objects never compare equal to a record.
 */
export const queryRecords = <A>(sqlite: Sqlite, sql: string, params?: ReadonlyArray<SqlCell>): ReadonlyArray<A> =>
  sqlite.all(sql, params).map((row) => ({ ...row }) as unknown as A)

/** The first column of the only row. */
export const queryNumber = (sqlite: Sqlite, sql: string, params?: ReadonlyArray<SqlCell>): number =>
  Number(Object.values(sqlite.all(sql, params)[0] ?? {})[0])

export const readTextCell = (row: SqliteRow | undefined, column: string): string => String(row?.[column])
export const readNumberCell = (row: SqliteRow | undefined, column: string): number => Number(row?.[column])
