/**
 * Reads what a start needs, without reading all of a long ledger: accounts, keys, the head of each account and the
 * spending of keys. Also checks the newest entries; `larder-serve ledger verify` checks everything.
 */
import type { Sqlite } from "../../persistence/index.ts"
import { type ChainHead, emptyHead } from "../chain/chain.ts"
import type { Account, ApiKey } from "../chain/records.ts"
import type { LedgerSnapshot } from "../rules/ledger-state.ts"
import { monthOf } from "../utc-calendar.ts"
import { type ChainStarts, makeEntryChecks, type Owners, readEntriesAfter, readStarts } from "./checks/entry-checks.ts"
import { findProgressProblem, indexedUpTo, monthOfEntry, readLastEntry, readProgress, updateSums } from "./progress.ts"
import { keyColumns, queryNumber, queryRecords } from "./tables.ts"

/** Checking this many entries takes a third of a second. */
const maxCheckedAtStart = 50_000

export class Damage extends Error {}

const parseScopes = (id: string, text: string): ReadonlyArray<string> => {
  const problem = () => new Damage(`key ${id} cannot be read: its scopes are ${text}`)
  let scopes: unknown
  try {
    scopes = JSON.parse(text)
  } catch {
    throw problem()
  }
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === "string")) throw problem()
  return scopes
}

/** From the cells of `keyColumns`; the table is strict. */
const toKey = (cells: ReadonlyArray<unknown>, scopes: ApiKey["scopes"]) =>
  ({
    id: cells[0],
    account_id: cells[1],
    name: cells[2],
    scopes,
    budget_credits: cells[4],
    sha256: cells[5],
    last4: cells[6],
    former_sha256: cells[7],
    former_last4: cells[8],
    former_expires_at: cells[9],
    created_at: cells[10],
    revoked_at: cells[11],
    expires_at: cells[12],
    revision: cells[13]
  }) as ApiKey

const selectKeys = `select ${keyColumns.join(", ")} from ledger.api_key order by rowid`
/** Keys have few different lists of scopes, and share them. */
const readKeys = (sqlite: Sqlite): ReadonlyArray<ApiKey> => {
  const lists = new Map<string, ApiKey["scopes"]>()
  const shareScopes = (id: string, text: string) => {
    const scopes = lists.get(text) ?? parseScopes(id, text)
    lists.set(text, scopes)
    return scopes
  }
  const keys: Array<ApiKey> = []
  for (const cells of sqlite.cells(selectKeys)) {
    const [id, , , scopes] = cells
    keys.push(toKey(cells, shareScopes(String(id), String(scopes))))
  }
  return keys
}

const lastEntries = `
  with last as materialized (
    select id, (select sequence from sums.entry_place where account_id = id order by position desc limit 1) as sequence
    from ledger.account
  )
  select id, position, balance, hash
  from last
  left join ledger.entry on entry.sequence = last.sequence and account_id = id
  where last.sequence is not null`
const readHeads = (sqlite: Sqlite, starts: ChainStarts): Map<string, ChainHead> => {
  const heads = new Map<string, ChainHead>(starts.heads)
  for (const [id, position, balance, hash] of sqlite.cells(lastEntries)) {
    if (position === null) throw new Damage(`the last entry of account ${id} is missing`)
    heads.set(String(id), { position, balance, hash } as unknown as ChainHead) // strict columns
  }
  return heads
}

/**
 * Checks the newest entries. The first one of each account is not compared with an older predecessor. At the last entry
 * that `entry_place` covers, each of these accounts must be at the position that `entry_place` has for it.
 */
const checkNewest = (sqlite: Sqlite, owners: Owners, starts: ChainStarts, heads: Map<string, ChainHead>) => {
  const last = readLastEntry(sqlite)
  const placed = readProgress(sqlite)
  const from = Math.max(starts.archived, Math.min(placed, last - maxCheckedAtStart))
  const { check, heads: followed } = makeEntryChecks(sqlite, owners, starts, from)
  for (const entry of readEntriesAfter(sqlite, from)) {
    const [problem] = check(entry)
    if (problem !== undefined) throw new Damage(problem)
    if (entry.sequence === placed) comparePlaces(heads, followed)
  }
  for (const [id, head] of followed) heads.set(id, head)
  return { isWhole: from === starts.archived }
}

const comparePlaces = (places: ReadonlyMap<string, ChainHead>, followed: ReadonlyMap<string, ChainHead>) => {
  for (const [id, { position }] of followed) {
    const place = places.get(id)?.position ?? 0
    if (place !== position)
      throw new Damage(`account ${id} is at its entry ${place}, and its entries reach ${position}`)
  }
}

/** Exact: when the last call of a month was admitted, every other call was spent or held. A refund only frees credits. */
const overspent = `
  select key_id, substr(occurred_at, 1, 7) as month, -sum(credits) as spent, coalesce(max(budget_credits), 0) as budget
  from ledger.entry
  where key_id is not null
  group by 1, 2
  having -sum(credits) > coalesce(max(budget_credits), 0)
  order by 1, 2
  limit 1`
const checkBudgets = (sqlite: Sqlite) => {
  for (const { budget, key_id, month, spent } of sqlite.all(overspent)) {
    throw new Damage(
      `key ${key_id} was charged ${spent} credits in ${month}, but the highest budget of these charges is ${budget}`
    )
  }
}

/** Sums of past months are read on demand, in case the clock was set back. */
const selectSpendingFrom = `
  select key_id, month, sum(credits) as spent
  from (
    select key_id, month, credits from sums.usage_of_month where month >= $1
    union all
    select key_id, ${monthOfEntry}, -credits
    from ledger.entry
    where sequence > ${indexedUpTo} and key_id is not null
  )
  where month >= $1
  group by key_id, month`
const readSpending = (sqlite: Sqlite, firstMonth: number) => {
  const spending: Array<LedgerSnapshot["spending"][number]> = []
  for (const [key_id, month, spent] of sqlite.cells(selectSpendingFrom, [firstMonth])) {
    spending.push({ key_id: String(key_id), month: Number(month), spent: Number(spent) })
  }
  return spending
}
const selectSpentInMonth = `
  select coalesce(sum(credits), 0) as spent
  from (
    select credits from sums.usage_of_month where month = $1 and account_id = $2 and key_id = $3
    union all
    select -credits
    from ledger.entry
    where sequence > ${indexedUpTo} and key_id = $3 and ${monthOfEntry} = $1
  )`

const selectBooked = `
  select account_id, type, request_id as reference
  from ledger.entry indexed by entry_but_charge
  where type <> 'charge' and key_id is null and request_id is not null`

/** After a restore, all entries have to be summed up: ten seconds per million, in batches as large as memory allows. */
const maxBatchSize = 2_000_000

/** The number of entries that a start has to sum up first, if that takes long; otherwise 0. */
export const countEntriesToSum = (sqlite: Sqlite): number => {
  const count = readLastEntry(sqlite) - readProgress(sqlite)
  return count > maxCheckedAtStart ? count : 0
}

/** The state of the ledger at its last entry. Throws `Damage` if the stored data is inconsistent. */
export const readSnapshot = (sqlite: Sqlite, now: number): LedgerSnapshot => {
  const problem = findProgressProblem(sqlite)
  if (problem !== undefined) throw new Damage(problem)
  if (countEntriesToSum(sqlite) > 0) updateSums(sqlite, maxBatchSize)
  const accounts = queryRecords<Account>(
    sqlite,
    "select id, name, created_at, suspended_at from ledger.account order by rowid"
  )
  const keys = readKeys(sqlite)
  const owners = {
    accounts: new Set(accounts.map(({ id }) => id)),
    accountByKey: new Map(keys.map((key) => [key.id, key.account_id]))
  }
  for (const { account_id, id } of keys) {
    if (!owners.accounts.has(account_id))
      throw new Damage(`key ${id} belongs to account ${account_id}, which is missing`)
  }
  const starts = readStarts(sqlite)
  const heads = readHeads(sqlite, starts)
  if (checkNewest(sqlite, owners, starts, heads).isWhole) checkBudgets(sqlite)
  const firstMonth = monthOf(now) - 1
  const spending = readSpending(sqlite, firstMonth)
  const unknown = spending.find(({ key_id }) => !owners.accountByKey.has(key_id))
  if (unknown !== undefined) throw new Damage(`key ${unknown.key_id} was charged, but is missing`)
  return {
    sequence: readLastEntry(sqlite),
    accounts: accounts.map((account) => ({ account, head: heads.get(account.id) ?? emptyHead })),
    keys,
    spending,
    stored: {
      month: firstMonth,
      readMonth: (accountId, keyId, month) => queryNumber(sqlite, selectSpentInMonth, [month, accountId, keyId])
    },
    booked: queryRecords(sqlite, selectBooked)
  }
}
