/** Writes the rows of a group, within the caller's transaction. */
import type { SQLInputValue } from "node:sqlite"
import type { Sqlite } from "../../persistence/sqlite.ts"
import { recorded } from "../chain/recorded.ts"
import type { ApiKey, Entry } from "../chain/records.ts"
import { grantChanges } from "../rules/expiring-grants.ts"
import type { Group } from "../rules/ledger-state.ts"
import { entryColumns } from "./columns.ts"

const marks = (count: number) => Array(count).fill("?").join(", ")

const cellsOfKey = (key: ApiKey): Array<SQLInputValue> =>
  recorded.api_key.map((column) => (column === "scopes" ? JSON.stringify(key.scopes) : key[column]))

/** Spelled out, because every charge is such a row, and a loop over the names would add a tenth to its time. */
const cellsOfEntry = (entry: Entry): Array<SQLInputValue> => [
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
  entry.daily_budget_credits,
  entry.weekly_budget_credits,
  entry.request_id,
  entry.note,
  entry.expires_at,
  entry.grants,
  entry.hash
]

export const groupWriting = (sqlite: Sqlite) => {
  const insertAccount = sqlite.prepare("insert into ledger.account (id, name, created_at) values (?, ?, ?)")
  const keyColumns = recorded.api_key
  const putKey = sqlite.prepare(`
    insert into ledger.api_key (${keyColumns.join(", ")})
    values (${marks(keyColumns.length)})
    on conflict (id) do update set ${keyColumns.map((column) => `${column} = excluded.${column}`).join(", ")}`)
  const insertEntry = sqlite.prepare(`
    insert into ledger.entry (${entryColumns})
    values (${marks(entryColumns.split(",").length)})`)
  const insertGrant = sqlite.prepare(`
    insert into ledger.expiring_grant (account_id, position, expires_at, credits_left) values (?, ?, ?, ?)`)
  const changeGrant = sqlite.prepare(`
    update ledger.expiring_grant set credits_left = credits_left + ? where account_id = ? and position = ?`)

  const writeGrants = ({ account_id, credits, expires_at, grants, position }: Entry) => {
    if (expires_at !== null) insertGrant.run(account_id, position, expires_at, credits)
    for (const change of grantChanges(grants)) changeGrant.run(change.credits, account_id, change.position)
  }

  return ({ accounts, entries, keys }: Group): void => {
    for (const { created_at, id, name } of accounts) insertAccount.run(id, name, created_at)
    for (const key of keys) putKey.run(...cellsOfKey(key))
    for (const entry of entries) {
      insertEntry.run(...cellsOfEntry(entry))
      if (entry.expires_at !== null || entry.grants !== null) writeGrants(entry)
    }
  }
}
