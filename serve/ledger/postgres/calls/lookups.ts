/**
 * Looks up keys with their accounts and spending, for admissions. Calls that arrive in one turn of the event loop, or while
 * the last lookup runs, share one statement, which is sent after they arrived.
 */
import type { LedgerState } from "../../rules/ledger-state.ts"
import type { SqlStatement } from "../sql/database.ts"
import { readSecrets, restoreFromRows } from "../sql/group-statements.ts"
import type { OwnHolds } from "./own-holds.ts"

/** What the database has said of keys, their accounts and their spending in some months. */
export interface Read {
  readonly state: LedgerState
  readonly months: ReadonlySet<number>
  /** See `OwnHolds.moment`: the rows include what this server charged up to then. */
  readonly moment: number
  /** Milliseconds of the monotonic clock. */
  readonly at: number
}

interface Batch {
  readonly secrets: Set<string>
  readonly months: Set<number>
  readonly done: PromiseWithResolvers<Read>
}

const newBatch = (): Batch => ({ secrets: new Set(), months: new Set(), done: Promise.withResolvers() })

export const makeLookups = (options: {
  readonly query: (statements: ReadonlyArray<SqlStatement>) => Promise<ReadonlyArray<ReadonlyArray<unknown>>>
  readonly own: OwnHolds
  /** Monotonic, in milliseconds. */
  readonly now: () => number
}) => {
  const { now, own, query } = options
  let next: Batch | undefined
  let isReading = false

  const readBatch = async ({ months, secrets }: Batch): Promise<Read> => {
    const [moment, at] = [own.moment(), now()]
    const [, , rows = []] = await query(readSecrets([...secrets], [...months]))
    return { state: restoreFromRows(rows), months, moment, at }
  }

  const sendNext = () => {
    const batch = next
    if (batch === undefined) return
    next = undefined
    isReading = true
    readBatch(batch)
      .then(batch.done.resolve, batch.done.reject)
      .finally(() => {
        isReading = false
        if (next !== undefined) setImmediate(sendNext)
      })
  }

  const openBatch = () => {
    if (next !== undefined) return next
    next = newBatch()
    if (!isReading) setImmediate(sendNext)
    return next
  }

  return (sha256: string, month: number): Promise<Read> => {
    const batch = openBatch()
    batch.secrets.add(sha256)
    batch.months.add(month)
    return batch.done.promise
  }
}

export type LookUp = ReturnType<typeof makeLookups>
