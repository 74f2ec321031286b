/** The tables of the ledger in SQLite, and the triggers that record every state of accounts, keys and payments. */
import { readFileSync } from "node:fs"
import { type Recorded, recorded, recordedTables } from "../chain/recorded.ts"

const read = (name: string) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()

export const ledgerTables: ReadonlyArray<string> = ["account", "api_key", "entry", "expiring_grant", "record"].map(read)

/** Tables derived from the entries, in a separate file. */
export const sumsTables: ReadonlyArray<string> = ["entry_place", "usage"].map(read)

/** The JSON of a row, as its record stores it. */
export const bodyOf = (table: Recorded, row: string): string =>
  `json_object(${recorded[table].map((column) => `'${column}', ${row}.${column}`).join(", ")})`

const recording = (table: Recorded, change: "insert" | "update") => `
  create trigger ${change}_of_${table} after ${change} on ${table} begin
    insert into record (after_entry, kind, body)
    values ((select coalesce(max(sequence), 0) from entry), '${table}', ${bodyOf(table, "new")});
  end`

/** A recharge that was not sent to the processor is removed if the balance turns out to be high enough. */
const recordingRemoval = `
  create trigger delete_of_payment after delete on payment begin
    insert into record (after_entry, kind, body)
    values ((select coalesce(max(sequence), 0) from entry), 'payment',
      json_object('id', old.id, 'removed', json('true')));
  end`

export const recordingTriggers: ReadonlyArray<string> = [
  ...recordedTables.flatMap((table) => [recording(table, "insert"), recording(table, "update")]),
  recordingRemoval
]
