/** What a server serves, as data, and how it changes. Nothing here opens a file. */
import type { ServedRecords } from "./open-records.ts"
import { describeUnserved, type UnservedDataSet } from "./unserved.ts"

interface Current {
  readonly number: number
  readonly records: Pick<ServedRecords, "isComplete">
}

export interface LiveState<G extends Current> {
  /** The generation that new reads use. */
  readonly current: G
  /** Data sets of the newest generation that cannot be served. An older state is served instead, or nothing. */
  readonly faults: ReadonlyArray<UnservedDataSet>
  /** Whether the newest generation cannot be read or served at all. */
  readonly isUnreadable: boolean
  /** The newest generation that has been served completely; undefined if none has. */
  readonly completed: number | undefined
  /** Number of swaps since the start, each of which exchanged at least one data set. */
  readonly swaps: number
}

export const unreadable = "the newest generation cannot be read"

/** Why part of the live data is not served; undefined if all of it is. */
export const describeFaults = ({ faults, isUnreadable }: LiveState<Current>) => {
  const problems = [...(isUnreadable ? [unreadable] : []), ...faults.map(describeUnserved)]
  return problems.length === 0 ? undefined : problems.join("; ")
}

/** Whether the newest generation of a listing still has to be served. */
export const isToBeServed = ({ completed }: LiveState<Current>, newest: number | undefined) =>
  newest !== undefined && newest !== completed

/** If the newest generation of a listing is the one that is served completely, an unreadable one was removed. */
export const afterListing = <G extends Current>(state: LiveState<G>, newest: number | undefined): LiveState<G> =>
  state.isUnreadable && newest === state.completed ? { ...state, isUnreadable: false } : state

/** After the newest generation is served, as far as it can be. Without `before`, it is the first one. */
export const afterServing = <G extends Current>(
  current: G,
  faults: ReadonlyArray<UnservedDataSet>,
  before?: LiveState<G>,
  changed: ReadonlyArray<string> = []
): LiveState<G> => ({
  current,
  faults,
  isUnreadable: false,
  completed: faults.length === 0 && current.records.isComplete ? current.number : before?.completed,
  swaps: (before?.swaps ?? 0) + (changed.length > 0 ? 1 : 0)
})
