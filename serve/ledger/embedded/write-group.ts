/** Writes the rows of a group, within a transaction of the caller. */
import type { Sqlite } from "../../persistence/sqlite.ts"
import type { Group } from "../machine.ts"

export const groupWriting = (sqlite: Sqlite) => {
  const insertAccount = sqlite.prepare("insert into ledger.account (id, name, created_at) values (?, ?, ?)")
  const putKey = sqlite.prepare(`
    insert into ledger.api_key (id, account_id, name, scopes, budget_credits, sha256, last4, created_at, revoked_at,
      expires_at, revision)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (id) do update set name = excluded.name, scopes = excluded.scopes, budget_credits = excluded.budget_credits,
      revoked_at = excluded.revoked_at, expires_at = excluded.expires_at, revision = excluded.revision`)
  const insertEntry = sqlite.prepare(`
    insert into ledger.entry (sequence, account_id, position, type, occurred_at, key_id, endpoint, credits, balance,
      budget_credits, request_id, note, hash)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  return ({ accounts, entries, keys }: Group): void => {
    for (const { created_at, id, name } of accounts) insertAccount.run(id, name, created_at)
    for (const key of keys) {
      const { account_id, budget_credits, created_at, expires_at, id, last4, name, revision, revoked_at, sha256 } = key
      putKey.run(
        id,
        account_id,
        name,
        JSON.stringify(key.scopes),
        budget_credits,
        sha256,
        last4,
        created_at,
        revoked_at,
        expires_at,
        revision
      )
    }
    for (const entry of entries) {
      const { account_id, balance, credits, endpoint, hash, key_id, note, occurred_at, position } = entry
      const { budget_credits, request_id, sequence, type } = entry
      insertEntry.run(
        sequence,
        account_id,
        position,
        type,
        occurred_at,
        key_id,
        endpoint,
        credits,
        balance,
        budget_credits,
        request_id,
        note,
        hash
      )
    }
  }
}
