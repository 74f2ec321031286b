/**
 * What the random histories run over: a ledger with one server, or with several that share it, and everything that can
 * happen to them. A store is put to the histories by one of these.
 */

import type { Entry, LedgerAccess } from "@larder/serve/ledger"

/** When a process dies: doing nothing, or before, while or after the changes under way reach the store. */
export const moments = ["idle", "before", "torn", "after"] as const

export interface Death {
  readonly moment: (typeof moments)[number]
  /** How much of what was being written is there, from 0 to 1; and whether its beginning is, or its end. */
  readonly tear: number
  readonly tornAt: "end" | "beginning"
}

export interface Subject {
  /** The servers that run now. What `restart` and `crash` replace is not used again. */
  readonly servers: () => ReadonlyArray<LedgerAccess>
  /** What has been written for an account, oldest first. It is asked after each step. */
  readonly entriesOf: (accountId: string) => Promise<ReadonlyArray<Entry>>
  /** Waits until no server counts a hold any more that has been released. */
  readonly settled: () => Promise<void>
  /** Stops a server as an operator does, and starts it again. `begin` makes changes that it has to finish before. */
  readonly restart: (server: number, begin: () => void) => Promise<void>
  /**
   * Kills a server and starts it again. `begin` makes changes and resolves when all have ended; they are what the death
   * interrupts. The holds of the server are gone afterwards; a store that needs time for that takes it here.
   */
  readonly crash: (server: number, death: Death, begin: () => Promise<void>) => Promise<void>
  /** The store takes no writes, or cannot be reached at all, until the end. Resolves when servers have noticed. */
  readonly beginOutage: () => Promise<void>
  readonly endOutage: () => Promise<void>
  /** Stops everything and leaves nothing behind. Fails where something was logged that should not be. */
  readonly close: () => Promise<void>
}

export interface Traits {
  readonly outage: "of writes" | "of everything"
  /** Whether `remaining` counts every hold of every server, or tells what the server has seen last. */
  readonly knowsRemaining: boolean
  /** Whether it answers `usage` and `verify`; the ledger in memory does not. */
  readonly sumsUp: boolean
  /** Whether entries are numbered through, over all accounts. */
  readonly numbersHaveNoGaps: boolean
  /** How long a charged request id is refused: ids are unique by their making, and some stores guard only against bugs. */
  readonly remembersRequestIds: "while it runs" | "for ever"
}

export interface LedgerKind {
  /** As in "histories over …". */
  readonly name: string
  readonly traits: Traits
  readonly open: () => Promise<Subject>
  /** Notes what only such a ledger does, until the answer is called. */
  readonly watch?: (note: (what: string) => void) => () => void
  /** What is noted so, in enough histories. */
  readonly paths?: ReadonlyArray<string>
}
