/**
 * Checks entries in the order of their numbers: each is unchanged and follows its predecessor, names only a key of its
 * account (a charge always names one), and spends only credits that the account had.
 */
import type { Sqlite } from "../../../persistence/index.ts"
import { type ChainHead, emptyHead, findBreak } from "../../chain/chain.ts"
import { type Entry, isReversal } from "../../chain/records.ts"
import { archivedEntries, entryColumns, queryNumber, readChainStarts, readTextCell } from "../tables.ts"

const entriesAfter = `
  select ${entryColumns} from ledger.entry where sequence > $1 and sequence <= $2 order by sequence`

/** From the cells of `entryColumns`; the table is strict. */
const toEntry = (cells: ReadonlyArray<unknown>) =>
  ({
    sequence: cells[0],
    account_id: cells[1],
    position: cells[2],
    type: cells[3],
    occurred_at: cells[4],
    key_id: cells[5],
    endpoint: cells[6],
    credits: cells[7],
    balance: cells[8],
    budget_credits: cells[9],
    request_id: cells[10],
    note: cells[11],
    hash: cells[12]
  }) as Entry

export function* readEntriesAfter(sqlite: Sqlite, after: number, upTo = Number.MAX_SAFE_INTEGER): Generator<Entry> {
  for (const cells of sqlite.cells(entriesAfter, [after, upTo])) yield toEntry(cells)
}

/** Credits deducted for refunds, for disputes and by hand up to a position, as a safe integer. Only for balances below 0. */
const reversedCredits = `
  select cast(min(total(-credits), ${Number.MAX_SAFE_INTEGER}) as integer) as credits
  from ledger.entry indexed by entry_but_charge
  where type <> 'charge' and account_id = $1 and position <= $2 and ${isReversal}`

export interface Owners {
  readonly accounts: ReadonlySet<string>
  readonly accountByKey: ReadonlyMap<string, string>
}

export const readOwners = (sqlite: Sqlite): Owners => ({
  accounts: new Set(sqlite.all("select id from ledger.account").map((row) => readTextCell(row, "id"))),
  accountByKey: new Map(
    sqlite
      .all("select id, account_id from ledger.api_key")
      .map((row): [string, string] => [readTextCell(row, "id"), readTextCell(row, "account_id")])
  )
})

const describeEntry = (accountId: string, position: number) => `entry ${position} of account ${accountId}`

/** Where the chains begin, and the number of the entries before them. */
export interface ChainStarts {
  readonly heads: ReadonlyMap<string, ChainHead>
  readonly archived: number
}

export const readStarts = (sqlite: Sqlite): ChainStarts => ({
  heads: readChainStarts(sqlite),
  archived: queryNumber(sqlite, `select ${archivedEntries}`)
})

/** After a later entry than the archived ones, the first checked entry of an account is compared only at position 1. */
export const makeEntryChecks = (sqlite: Sqlite, owners: Owners, starts: ChainStarts, after = starts.archived) => {
  const isWhole = after === starts.archived
  const heads = new Map<string, ChainHead>(isWhole ? starts.heads : [])
  let reached = after

  const findHeadBefore = ({ account_id, position }: Entry): ChainHead | undefined =>
    heads.get(account_id) ?? (isWhole || position === 1 ? emptyHead : undefined)

  /** An empty field is hashed like null. */
  const findFieldProblem = (entry: Entry, place: string) => {
    const { account_id, endpoint, key_id, note, occurred_at, request_id, type } = entry
    for (const field of [account_id, endpoint, key_id, note, occurred_at, request_id, type]) {
      if (field === "") return `${place} is not what was written: a field is empty`
    }
    return undefined
  }

  const findNumberProblem = ({ sequence }: Entry) =>
    sequence > reached + 1 ? `entry ${sequence} follows entry ${reached}, so entries are missing` : undefined

  const findOwnerProblem = ({ account_id, key_id, type }: Entry, place: string) => {
    if (!owners.accounts.has(account_id)) return `${place} belongs to an account that is missing`
    if (type !== "charge" && key_id === null) return undefined
    return owners.accountByKey.get(key_id ?? "") === account_id
      ? undefined
      : `${place} names key ${key_id}, which is not a key of this account`
  }

  /** Calls cannot spend credits that an account does not have: only refunds, disputes and debits by hand make a balance negative. */
  const findBalanceProblem = ({ account_id, balance, position }: Entry, place: string) => {
    if (balance >= 0) return undefined
    const reversed = queryNumber(sqlite, reversedCredits, [account_id, position])
    return balance + reversed < 0 ? `${place} leaves a balance of ${balance} credits` : undefined
  }

  return {
    /** The heads of the accounts after the entries that were checked. */
    heads: heads as ReadonlyMap<string, ChainHead>,
    reached: () => reached,
    check: (entry: Entry): ReadonlyArray<string> => {
      const { account_id, balance, hash, position, sequence } = entry
      const place = describeEntry(account_id, position)
      const head = findHeadBefore(entry)
      const problems = [
        findNumberProblem(entry),
        findFieldProblem(entry, place),
        findOwnerProblem(entry, place),
        head === undefined ? undefined : findBreak(head, entry),
        findBalanceProblem(entry, place)
      ]
      heads.set(account_id, { position, balance, hash })
      reached = sequence
      return problems.filter((problem) => problem !== undefined)
    }
  }
}
