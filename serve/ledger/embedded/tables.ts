/**
 * The tables of the ledger in SQLite, and functions that read rows. The tables are strict, so every value has the type of
 * its column.
 */
import { readFileSync } from "node:fs"
import type { SqlCell, Sqlite, SqliteRow } from "../../persistence/index.ts"
import type { ChainHead } from "../chain/chain.ts"
import type { ApiKey } from "../chain/records.ts"

const readTable = (name: string) => readFileSync(new URL(`./tables/${name}.sql`, import.meta.url), "utf8").trim()

export const ledgerTables: ReadonlyArray<string> = ["account", "api_key", "entry", "chain_start"].map(readTable)

export const sumsTables: ReadonlyArray<string> = ["entry_place", "usage"].map(readTable)

export const keyColumns = [
  "id",
  "account_id",
  "name",
  "scopes",
  "budget_credits",
  "sha256",
  "last4",
  "former_sha256",
  "former_last4",
  "former_expires_at",
  "created_at",
  "revoked_at",
  "expires_at",
  "revision"
] as const satisfies ReadonlyArray<keyof ApiKey>

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

/** Where chains begin that do not begin at the first entry, by account. */
export const readChainStarts = (sqlite: Sqlite): ReadonlyMap<string, ChainHead> =>
  new Map(
    queryRecords<ChainHead & { readonly account_id: string }>(
      sqlite,
      "select account_id, position, balance, hash from ledger.chain_start"
    ).map(({ account_id, ...head }): [string, ChainHead] => [account_id, head])
  )

/** In SQL: the number of archived entries, which were the oldest ones, so it is also the number of the last of them. */
export const archivedEntries = "(select coalesce(sum(position), 0) from ledger.chain_start)"
