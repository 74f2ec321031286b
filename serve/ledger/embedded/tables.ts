/** The tables of the ledger in SQLite, and the triggers that keep every state of what is recorded. */
import { readFileSync } from "node:fs"

const read = (name: string) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()

export const ledgerTables: ReadonlyArray<string> = ["account", "api_key", "entry", "expiring_grant", "record"].map(read)

/** Tables that follow from the entries, in a file of their own. */
export const sumsTables: ReadonlyArray<string> = ["entry_place", "usage"].map(read)

/** Tables whose rows enter the chain with each change, and their columns. */
export const recorded = {
  account: ["id", "name", "created_at"],
  api_key: [
    "id",
    "account_id",
    "name",
    "scopes",
    "budget_credits",
    "daily_budget_credits",
    "weekly_budget_credits",
    "sha256",
    "last4",
    "former_sha256",
    "former_last4",
    "former_expires_at",
    "created_at",
    "revoked_at",
    "expires_at",
    "revision"
  ],
  payment: [
    "id",
    "account_id",
    "kind",
    "cents",
    "state",
    "processor",
    "reference",
    "customer",
    "card",
    "problem",
    "card_brand",
    "card_last4",
    "created_by",
    "created_at",
    "asked_at",
    "settled_at"
  ]
} as const
export type Recorded = keyof typeof recorded
export const recordedTables = Object.keys(recorded) as ReadonlyArray<Recorded> // TypeScript forgets the names

/** A row as its record says it. */
export const bodyOf = (table: Recorded, row: string): string =>
  `json_object(${recorded[table].map((column) => `'${column}', ${row}.${column}`).join(", ")})`

const recording = (table: Recorded, change: "insert" | "update") => `
  create trigger ${change}_of_${table} after ${change} on ${table} begin
    insert into record (after_entry, kind, body)
    values ((select coalesce(max(sequence), 0) from entry), '${table}', ${bodyOf(table, "new")});
  end`

/** A recharge that was not sent to the processor is removed where the balance turns out to be high enough. */
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
