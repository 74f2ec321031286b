/**
 * Triggers that record every state of accounts, keys and payments, in the transaction that changes it. They write the
 * same JSON as in SQLite, so a ledger that moves keeps its chain. Charges fire no trigger.
 */
import { type RecordedTable, recordedColumns } from "../../chain/recorded-tables.ts"
import { isoTimestamp } from "./sql-expressions.ts"

/** Converts columns of other types to the strings that SQLite stores. */
const conversions: Readonly<Record<string, (value: string) => string>> = {
  "account.created_at": isoTimestamp,
  "api_key.scopes": (value) => `array_to_json(${value})::text`,
  "api_key.created_at": isoTimestamp,
  "api_key.revoked_at": isoTimestamp,
  "api_key.expires_at": isoTimestamp,
  "api_key.former_expires_at": isoTimestamp
}

/** The JSON of a row, as its record stores it: without spaces, and in this column order. */
export const recordInPostgres = (table: RecordedTable, row: string): string => {
  const columns = recordedColumns[table].map((column) => {
    const value = `${row}.${column}`
    return `${conversions[`${table}.${column}`]?.(value) ?? value} as ${column}`
  })
  return `(select row_to_json(whole) from (select ${columns.join(", ")}) as whole)`
}

const removed = "(select row_to_json(whole) from (select old.id, true as removed) as whole)"

const createFunction = (name: string, table: RecordedTable, body: string) => `
  create function ledger.${name}() returns trigger language plpgsql as $$
  begin
    insert into ledger.record (kind, body) values ('${table}', ${body});
    return null;
  end $$`

const createTrigger = (table: string, events: string, name: string) =>
  `create trigger ${name} after ${events} on ${table} for each row execute function ledger.${name}()`

export const recordingInLedger: ReadonlyArray<string> = [
  createFunction("record_account", "account", recordInPostgres("account", "new")),
  createFunction("record_api_key", "api_key", recordInPostgres("api_key", "new")),
  createFunction("record_payment", "payment", recordInPostgres("payment", "new")),
  createFunction("record_removal", "payment", removed),
  // the other columns hold the head, which the entries already record, and the lease
  createTrigger("ledger.account", `insert or update of ${recordedColumns.account.join(", ")}`, "record_account"),
  createTrigger("ledger.api_key", "insert or update", "record_api_key")
]

/** The console's tables are created later. A recharge that was not sent to the processor may be removed. */
export const recordingInConsole: ReadonlyArray<string> = [
  createTrigger("console.payment", "insert or update", "record_payment"),
  createTrigger("console.payment", "delete", "record_removal")
]
