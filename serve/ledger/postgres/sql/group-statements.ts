/**
 * The statements with which a server admits and charges calls. An admission reads; a group locks its accounts in the order
 * of their ids, reads again, and writes. The columns are cast to the types of `KeyRow`, and not decoded: a busy server
 * reads tens of thousands of rows a second.
 */
import type { ApiKey, Entry } from "../../chain/records.ts"
import { type LedgerSnapshot, type LedgerState, restoreState } from "../../rules/ledger-state.ts"
import { integerArray, type SqlStatement, textArray } from "./database.ts"
import { isoTimestamp } from "./sql-expressions.ts"
import { bindRows, listAccountsAfter, writeEntries } from "./write-group.ts"

/** Overrides the default of the database or the role: a charge is flushed before its response is sent. */
const requireFlush =
  "set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true)"

/**
 * A process that is stopped in the middle of a transaction keeps its accounts locked until the database ends its session.
 * This is shorter than the time for which others wait for the lock, so they get it.
 */
const idleTimeout = "1s"

/**
 * Plans the following statements once per connection. Otherwise PostgreSQL, which assumes longer arrays, would plan them
 * each time: two servers on one account would charge a sixth less.
 */
const planOnce = "set_config('plan_cache_mode', 'force_generic_plan', true)"

const setLimits = `select set_config('lock_timeout', $1, true),
  set_config('idle_in_transaction_session_timeout', '${idleTimeout}', true), ${requireFlush}, ${planOnce}`

const lockAccounts = "select from ledger.account where id = any ($1::text[]) order by id for no key update"

export const begin: SqlStatement = { query: "begin" }
export const commit: SqlStatement = { query: "commit" }
export const rollback: SqlStatement = { query: "rollback" }

/** The first statements of each transaction that changes accounts. */
export const lock = (accounts: ReadonlyArray<string>, lockTimeout: string): ReadonlyArray<SqlStatement> => [
  { query: setLimits, params: [lockTimeout] },
  { query: lockAccounts, params: [textArray(accounts)] }
]

/**
 * A key, its account, and what the key has spent in one month. `created_at` is empty: no decision depends on it, and the
 * database takes longer to format it than to find the row.
 */
interface KeyRow extends ApiKey {
  readonly account_name: string
  readonly suspended_at: string | null
  readonly position: number
  readonly balance: number
  readonly hash: string
  readonly month: number
  readonly spent: number
}

const readKeys = (condition: string) => `
  select key.id, key.account_id, key.name, key.scopes, key.budget_credits::float8 as budget_credits, key.sha256,
    key.last4, key.former_sha256, key.former_last4, ${isoTimestamp("key.former_expires_at")} as former_expires_at,
    ${isoTimestamp("key.revoked_at")} as revoked_at,
    ${isoTimestamp("key.expires_at")} as expires_at, '' as created_at, key.revision, account.name as account_name,
    ${isoTimestamp("account.suspended_at")} as suspended_at, account.position::float8 as position,
    account.balance::float8 as balance, account.hash, wanted.month, coalesce(spent.credits, 0)::float8 as spent
  from ledger.api_key as key
  join ledger.account as account on account.id = key.account_id
  cross join unnest($2::bigint[]::integer[]) as wanted (month)
  left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = wanted.month
  where ${condition}`

const readById = readKeys("key.id = any ($1::text[])")
const readBySecret = readKeys("key.sha256 = any ($1::text[]) or key.former_sha256 = any ($1::text[])")

export const readLockedKeys = (ids: ReadonlyArray<string>, months: ReadonlyArray<number>): SqlStatement => ({
  query: readById,
  params: [textArray(ids), integerArray(months)]
})
/** Reads without a lock. The rows are those of the third statement. */
export const readSecrets = (
  sha256: ReadonlyArray<string>,
  months: ReadonlyArray<number>
): ReadonlyArray<SqlStatement> => [
  begin,
  { query: `select ${planOnce}` },
  { query: readBySecret, params: [textArray(sha256), integerArray(months)] },
  commit
]

/** The ledger as far as the rows show it. */
export const restoreFromRows = (rows: ReadonlyArray<unknown>): LedgerState => {
  const accounts = new Map<string, LedgerSnapshot["accounts"][number]>()
  const keys = new Map<string, ApiKey>()
  const spending: Array<LedgerSnapshot["spending"][number]> = []
  for (const row of rows as ReadonlyArray<KeyRow>) {
    const { account_id, account_name, balance, created_at, hash, position, suspended_at } = row
    if (!accounts.has(account_id)) {
      const account = { id: account_id, name: account_name, created_at, suspended_at }
      accounts.set(account_id, { account, head: { position, balance, hash } })
    }
    keys.set(row.id, row)
    spending.push({ key_id: row.id, month: row.month, spent: row.spent })
  }
  return restoreState({
    sequence: 0,
    accounts: [...accounts.values()],
    keys: [...keys.values()],
    spending,
    booked: []
  })
}

const selectCharged = "select request_id from ledger.entry where type = 'charge' and request_id = any ($1::text[])"

export const findCharged = (requestIds: ReadonlyArray<string>): SqlStatement => ({
  query: selectCharged,
  params: [textArray(requestIds)]
})
export const listCharged = (rows: ReadonlyArray<unknown>): ReadonlySet<string> =>
  new Set((rows as ReadonlyArray<{ readonly request_id: string }>).map(({ request_id }) => request_id))

export const write = (entries: ReadonlyArray<Entry>): SqlStatement => ({
  query: writeEntries,
  params: bindRows(entries, [...listAccountsAfter(entries).values()])
})

/** Locks the tables that a group writes like `writeEntries`, and writes nothing. */
const lockTables = `
  with entry as (insert into ledger.entry (account_id) select id from ledger.account where false),
    account as (update ledger.account set balance = balance where false),
    spent as (update ledger.spent_in_month set credits = credits where false),
    by_day as (update ledger.usage_of_day set credits = credits where false),
    by_month as (update ledger.usage_of_month set credits = credits where false)
  update ledger.usage_of_endpoint set credits = credits where false`

/**
 * What a server that has lost the database sends until it succeeds. Fails on a standby, and while a table is locked: the
 * database would let it wait for the lock, and keep its connection, even after the server has given up.
 */
export const probe: ReadonlyArray<SqlStatement> = [
  begin,
  { query: "select set_config('lock_timeout', '1s', true)" },
  { query: lockTables },
  rollback
]
