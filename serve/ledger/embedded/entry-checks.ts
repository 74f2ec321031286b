/**
 * Follows entries in the order of their numbers: that each is what was written and follows the one before it, that it was
 * charged to a key of its account, and that what calls have spent was there.
 */
import type { Sqlite } from "../../persistence/sqlite.ts"
import { beginning, breakBefore, type ChainHead } from "../chain.ts"
import { isMoneyOut } from "../money-out.ts"
import type { Entry } from "../records.ts"
import { entryColumns, numberIn, textIn } from "./columns.ts"

/** Some 20 MB of rows at a time. */
const entriesAtOnce = 20_000
const entriesAfter = `
  select ${entryColumns} from ledger.entry where sequence > $1 order by sequence limit ${entriesAtOnce}`

/** All entries after a number, oldest first. */
export function* eachEntryAfter(sqlite: Sqlite, after: number, upTo = Number.POSITIVE_INFINITY): Generator<Entry> {
  for (let reached = after; reached < upTo; ) {
    const rows = sqlite.all(entriesAfter, [reached])
    for (const row of rows) {
      const entry = row as unknown as Entry // the columns; a copy of each would take as long as reading it
      if (entry.sequence > upTo) return
      yield entry
    }
    if (rows.length < entriesAtOnce) return
    reached = numberIn(rows.at(-1), "sequence")
  }
}

/**
 * Credits that had gone out of an account with money, when it was at a position, or the largest number that a double counts
 * exactly. Balances below 0 are rare.
 */
const moneyOut = `
  select cast(min(total(-credits), ${Number.MAX_SAFE_INTEGER}) as integer) as credits
  from ledger.entry indexed by entry_but_charge
  where type <> 'charge' and account_id = $1 and position <= $2 and ${isMoneyOut}`

interface EntryChecks {
  /** What is wrong with the next entry. */
  readonly check: (entry: Entry) => ReadonlyArray<string>
  /** Number of the last entry. */
  readonly reached: () => number
  /** Where the accounts of these entries have arrived. */
  readonly heads: ReadonlyMap<string, ChainHead>
}

export interface Owners {
  /** Ids of all accounts. */
  readonly accounts: ReadonlySet<string>
  /** The account of each key, by the key's id. */
  readonly ofKeys: ReadonlyMap<string, string>
}

export const readOwners = (sqlite: Sqlite): Owners => ({
  accounts: new Set(sqlite.all("select id from ledger.account").map((row) => textIn(row, "id"))),
  ofKeys: new Map(
    sqlite
      .all("select id, account_id from ledger.api_key")
      .map((row): [string, string] => [textIn(row, "id"), textIn(row, "account_id")])
  )
})

/** Begins after an entry. Where that is not the beginning, the first entry of each account is taken as it is. */
export const entryChecks = (sqlite: Sqlite, owners: Owners, after: number): EntryChecks => {
  const heads = new Map<string, ChainHead>()
  let reached = after

  const headBefore = ({ account_id, position }: Entry): ChainHead | undefined =>
    heads.get(account_id) ?? (after === 0 || position === 1 ? beginning : undefined)

  /** Null and an empty text have the same hash, and so do fields that a line break has moved into one another. */
  const textProblem = (entry: Entry, place: string) => {
    const { account_id, endpoint, expires_at, grants, key_id, note, occurred_at, request_id, type } = entry
    for (const text of [account_id, endpoint, expires_at, grants, key_id, note, occurred_at, request_id, type]) {
      if (text === "" || text?.includes("\n") === true) {
        return `${place} is not what was written: a text is empty, or has a line break`
      }
    }
    return undefined
  }

  const numberProblem = ({ sequence }: Entry) =>
    sequence > reached + 1 ? `entry ${sequence} follows entry ${reached}, so entries are missing` : undefined

  const ownerProblem = ({ account_id, key_id, type }: Entry, place: string) => {
    if (!owners.accounts.has(account_id)) return `${place} is of an account that is not there`
    if (type !== "charge" && key_id === null) return undefined
    return owners.ofKeys.get(key_id ?? "") === account_id
      ? undefined
      : `${place} was charged to key ${key_id}, which is no key of this account`
  }

  /** What calls have spent was there: a balance is below 0 by no more than the money that went out of its account. */
  const balanceProblem = ({ account_id, balance, position }: Entry, place: string) => {
    if (balance >= 0) return undefined
    const gone = numberIn(sqlite.all(moneyOut, [account_id, position])[0], "credits")
    return balance + gone < 0 ? `${place} leaves a balance of ${balance} credits` : undefined
  }

  return {
    heads,
    reached: () => reached,
    check: (entry) => {
      const { account_id, balance, hash, position, sequence } = entry
      const place = `entry ${position} of account ${account_id}`
      const head = headBefore(entry)
      const problems = [
        numberProblem(entry),
        textProblem(entry, place),
        ownerProblem(entry, place),
        head === undefined ? undefined : breakBefore(head, entry),
        balanceProblem(entry, place)
      ]
      heads.set(account_id, { position, balance, hash })
      reached = sequence
      return problems.filter((problem) => problem !== undefined)
    }
  }
}
