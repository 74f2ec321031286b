/**
 * Usage of the entries that are in the journal and not in the database yet, added up as they are written. Reading it back
 * from a full file would stop requests for 50 ms, and taking the file up for every page would make them wait for a new one.
 */
import type { Input, UsageOfDay } from "../administration.ts"
import type { Entry } from "../records.ts"

type Counted = { -readonly [Field in keyof UsageOfDay]: UsageOfDay[Field] }

interface UsageOfFile {
  /** Number of its last entry. */
  last: number
  readonly accounts: Map<string, Map<string, Counted>>
}

const newFile = (): UsageOfFile => ({ last: 0, accounts: new Map() })

const placeOf = ({ day, endpoint, key_id }: UsageOfDay) => `${day} ${key_id} ${endpoint}`

const count = ({ accounts }: UsageOfFile, { account_id, credits, endpoint, key_id, occurred_at, type }: Entry) => {
  if (key_id === null || endpoint === null) return
  const usage = accounts.get(account_id) ?? new Map<string, Counted>()
  accounts.set(account_id, usage)
  const first = { day: occurred_at.slice(0, 10), key_id, endpoint, calls: 0, credits: 0 }
  const counted = usage.get(placeOf(first)) ?? first
  usage.set(placeOf(first), counted)
  counted.calls += type === "refund" ? -1 : 1
  counted.credits -= credits
}

/** Rows of the database and those that it does not have yet, as if it had them. */
export const withAhead = (
  rows: ReadonlyArray<UsageOfDay>,
  ahead: ReadonlyArray<UsageOfDay>
): ReadonlyArray<UsageOfDay> => {
  if (ahead.length === 0) return rows
  const all = new Map(rows.map((row) => [placeOf(row), row]))
  for (const row of ahead) {
    const { calls, credits } = all.get(placeOf(row)) ?? { calls: 0, credits: 0 }
    all.set(placeOf(row), { ...row, calls: calls + row.calls, credits: credits + row.credits })
  }
  return [...all].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

export const makeUsageAhead = () => {
  let current = newFile()
  /** The oldest first; a file is in the database whole or not at all. */
  let files: ReadonlyArray<UsageOfFile> = [current]
  return {
    add: (entries: ReadonlyArray<Entry>): void => {
      for (const entry of entries) count(current, entry)
      current.last = entries.at(-1)?.sequence ?? current.last
    },
    /** What comes next is in another file. */
    sealed: (): void => {
      current = newFile()
      files = [...files, current]
    },
    /** The oldest file is in the database. */
    takenUp: (): void => {
      files = files.slice(1)
    },
    /** Asked before the database is, it has all that the database turns out not to have. */
    of: ({ account_id, endpoint, from, key_id, to }: Input<"summedUsage">) => {
      const now = files
      return (lastInDatabase: number): ReadonlyArray<UsageOfDay> =>
        now
          .filter(({ last }) => last > lastInDatabase)
          .flatMap(({ accounts }) => [...(accounts.get(account_id)?.values() ?? [])])
          .filter(({ day }) => from <= day && day <= to)
          .filter((one) => key_id === undefined || one.key_id === key_id)
          .filter((one) => endpoint === undefined || one.endpoint === endpoint)
    }
  }
}
