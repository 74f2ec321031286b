/** Writes a group into the file: new and changed accounts and keys, and entries. */
import type { SQLInputValue } from "node:sqlite"
import type { Sqlite } from "../../persistence/index.ts"
import type { ApiKey, Entry } from "../chain/records.ts"
import type { Group } from "../rules/ledger-state.ts"
import { entryColumns, keyColumns } from "./tables.ts"

const placeholders = (count: number) => Array(count).fill("?").join(", ")

/** The columns of a key as they are stored. */
export const keyCells = (key: ApiKey): Array<SQLInputValue> =>
  keyColumns.map((column) => (column === "scopes" ? JSON.stringify(key.scopes) : key[column]))

/** Written out, because a loop over the names would make every charge 10 % slower. */
const entryCells = (entry: Entry): Array<SQLInputValue> => [
  entry.sequence,
  entry.account_id,
  entry.position,
  entry.type,
  entry.occurred_at,
  entry.key_id,
  entry.endpoint,
  entry.credits,
  entry.balance,
  entry.budget_credits,
  entry.request_id,
  entry.note,
  entry.hash
]

export const prepareGroupWrite = (sqlite: Sqlite) => {
  const upsertAccount = sqlite.prepare(`
    insert into ledger.account (id, name, created_at, suspended_at)
    values (?, ?, ?, ?)
    on conflict (id) do update set suspended_at = excluded.suspended_at`)
  const upsertKey = sqlite.prepare(`
    insert into ledger.api_key (${keyColumns.join(", ")})
    values (${placeholders(keyColumns.length)})
    on conflict (id) do update set ${keyColumns.map((column) => `${column} = excluded.${column}`).join(", ")}`)
  const insertEntry = sqlite.prepare(`
    insert into ledger.entry (${entryColumns})
    values (${placeholders(entryColumns.split(",").length)})`)

  return ({ accounts, entries, keys }: Group): void => {
    for (const { created_at, id, name, suspended_at } of accounts) upsertAccount.run(id, name, created_at, suspended_at)
    for (const key of keys) upsertKey.run(...keyCells(key))
    for (const entry of entries) insertEntry.run(...entryCells(entry))
  }
}
