/**
 * Checks entries in the order of their numbers: each is unchanged and follows its predecessor, was charged to a key of
 * its account, and has spent only credits that were there.
 */
import type { Sqlite } from "../../../persistence/index.ts"
import { type ChainHead, emptyHead, findBreak } from "../../chain/chain.ts"
import { type Entry, isMoneyOut } from "../../chain/records.ts"
import { entryColumns, readNumber, readNumberCell, readTextCell } from "../tables.ts"

/** About 20 MB of rows per query. */
const batchSize = 20_000
const entriesAfter = `
  select ${entryColumns} from ledger.entry where sequence > $1 order by sequence limit ${batchSize}`

export function* readEntriesAfter(sqlite: Sqlite, after: number, upTo = Number.POSITIVE_INFINITY): Generator<Entry> {
  for (let reached = after; reached < upTo; ) {
    const rows = sqlite.all(entriesAfter, [reached])
    for (const row of rows) {
      const entry = row as unknown as Entry // the selected columns; copying each row would take as long as reading it
      if (entry.sequence > upTo) return
      yield entry
    }
    if (rows.length < batchSize) return
    reached = readNumberCell(rows.at(-1), "sequence")
  }
}

/** Money that left an account up to a position, clamped to an exact double. Only queried for balances below 0. */
const moneyOut = `
  select cast(min(total(-credits), ${Number.MAX_SAFE_INTEGER}) as integer) as credits
  from ledger.entry indexed by entry_but_charge
  where type <> 'charge' and account_id = $1 and position <= $2 and ${isMoneyOut}`

export interface Owners {
  readonly accounts: ReadonlySet<string>
  readonly ofKeys: ReadonlyMap<string, string>
}

export const readOwners = (sqlite: Sqlite): Owners => ({
  accounts: new Set(sqlite.all("select id from ledger.account").map((row) => readTextCell(row, "id"))),
  ofKeys: new Map(
    sqlite
      .all("select id, account_id from ledger.api_key")
      .map((row): [string, string] => [readTextCell(row, "id"), readTextCell(row, "account_id")])
  )
})

/** If `after` is not 0, the first entry of an account is compared with its predecessor only at position 1. */
export const makeEntryChecks = (sqlite: Sqlite, owners: Owners, after: number) => {
  const heads = new Map<string, ChainHead>()
  let reached = after

  const headBefore = ({ account_id, position }: Entry): ChainHead | undefined =>
    heads.get(account_id) ?? (after === 0 || position === 1 ? emptyHead : undefined)

  /** Null and an empty text have the same hash, and so do fields if a line break moves text from one to the next. */
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
    if (!owners.accounts.has(account_id)) return `${place} belongs to an account that is missing`
    if (type !== "charge" && key_id === null) return undefined
    return owners.ofKeys.get(key_id ?? "") === account_id
      ? undefined
      : `${place} was charged to key ${key_id}, which is not a key of this account`
  }

  /** Calls spend only credits that are there: a balance is below 0 by no more than the money that left its account. */
  const balanceProblem = ({ account_id, balance, position }: Entry, place: string) => {
    if (balance >= 0) return undefined
    const gone = readNumber(sqlite, moneyOut, [account_id, position])
    return balance + gone < 0 ? `${place} leaves a balance of ${balance} credits` : undefined
  }

  return {
    /** The heads of the accounts after the entries that were checked. */
    heads: heads as ReadonlyMap<string, ChainHead>,
    reached: () => reached,
    check: (entry: Entry): ReadonlyArray<string> => {
      const { account_id, balance, hash, position, sequence } = entry
      const place = `entry ${position} of account ${account_id}`
      const head = headBefore(entry)
      const problems = [
        numberProblem(entry),
        textProblem(entry, place),
        ownerProblem(entry, place),
        head === undefined ? undefined : findBreak(head, entry),
        balanceProblem(entry, place)
      ]
      heads.set(account_id, { position, balance, hash })
      reached = sequence
      return problems.filter((problem) => problem !== undefined)
    }
  }
}

const requestKey = ({ request_id, type }: Entry) => `${type} ${request_id}`

/** FNV-1a twice, with different start values. */
const hashText = (text: string): number => {
  let [high, low] = [0x811c9dc5, 0x1b873593]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x01000193) + at
  }
  return ((high >>> 0) & 0x1fffff) * 2 ** 32 + (low >>> 0)
}

const pastTense = { charge: "charged", refund: "given back" } as const
const describeRepetition = (name: string, times: number) => {
  const [type = "", id] = name.split(" ")
  if (type === "charge" || type === "refund") return `request ${id} was ${pastTense[type]} ${times} times`
  return `${type} ${id} was booked ${times} times`
}

/** Finds repeated request ids by 53-bit hashes: ten million texts would not fit into memory. */
export const makeRequestCheck = () => {
  let numbers = new Float64Array(1 << 16)
  let count = 0
  const isNamed = ({ request_id, type }: Entry) => type === "charge" || request_id !== null
  return {
    add: (entry: Entry): void => {
      if (!isNamed(entry)) return
      if (count === numbers.length) {
        const larger = new Float64Array(2 * count)
        larger.set(numbers)
        numbers = larger
      }
      numbers[count++] = hashText(requestKey(entry))
    },
    /** `entries` returns all entries that were added, once more. */
    problems: (entries: () => Iterable<Entry>): ReadonlyArray<string> => {
      const sorted = numbers.subarray(0, count).sort()
      const suspects = new Set<number>()
      for (let at = 1; at < count; at++) {
        const number = sorted[at]
        if (number !== undefined && number === sorted[at - 1]) suspects.add(number)
      }
      if (suspects.size === 0) return []
      const times = new Map<string, number>()
      for (const entry of entries()) {
        if (!isNamed(entry) || !suspects.has(hashText(requestKey(entry)))) continue
        times.set(requestKey(entry), (times.get(requestKey(entry)) ?? 0) + 1)
      }
      return [...times].flatMap(([name, count]) => (count > 1 ? [describeRepetition(name, count)] : []))
    }
  }
}
