/**
 * What the random histories test: a ledger with one server, or with several that share it, and everything that can happen
 * to them. Each kind of store implements this.
 */
import type { Entry, LedgerAccess } from "@larder/serve/ledger"

/** When a process dies: while it is idle, or before, while or after its pending changes reach the store. */
export const moments = ["idle", "before", "torn", "after"] as const

export interface Death {
  readonly moment: (typeof moments)[number]
  /** The part of the pending write that is kept, from 0 to 1, and where the write is torn. */
  readonly tear: number
  readonly tornAt: "end" | "beginning"
}

export interface Subject {
  /** The running servers. A server that `restart` or `crash` has replaced is not used again. */
  readonly servers: () => ReadonlyArray<LedgerAccess>
  /** The written entries of an account, oldest first. Called after each step. */
  readonly entriesOf: (accountId: string) => Promise<ReadonlyArray<Entry>>
  /** Stops a server cleanly, and starts it again. `begin` makes changes that the server has to complete before it stops. */
  readonly restart: (server: number, begin: () => void) => Promise<void>
  /**
   * Kills a server and starts it again. `begin` makes changes, which the death interrupts, and resolves when all have
   * ended. Resolves when the holds of the server are void.
   */
  readonly crash: (server: number, death: Death, begin: () => Promise<void>) => Promise<void>
  /** The store accepts no writes, or is unreachable, until the outage ends. Resolves when the servers have noticed. */
  readonly beginOutage: () => Promise<void>
  readonly endOutage: () => Promise<void>
  /** Stops everything and removes all files. Fails if there were unexpected log messages. */
  readonly close: () => Promise<void>
}

export interface Traits {
  readonly outage: "of writes" | "of everything"
  /** Whether `remaining` counts every hold of every server; if not, it returns what the server has read last. */
  readonly hasExactRemaining: boolean
  /** Whether it supports `usage` and `verify`, which the ledger in memory does not. */
  readonly supportsUsage: boolean
  /** Whether the entries of all accounts are numbered together, without gaps. */
  readonly hasGaplessNumbers: boolean
  /**
   * Whether a call is decided again when it is charged, because other servers' holds are unknown. Then a call may also be
   * admitted by what was read up to a second ago.
   */
  readonly decidesAgain: boolean
  /** How long a charged request id is refused: ids are unique by design, and some stores guard only against bugs. */
  readonly remembersRequestIds: "while it runs" | "forever"
}

export interface LedgerKind {
  /** As in "histories over …". */
  readonly name: string
  readonly traits: Traits
  readonly open: () => Promise<Subject>
}
