/**
 * The port behind which the ledger is kept. A store knows nothing of rules: it makes groups durable in the order in which
 * they are given, and gives everything back when the ledger starts.
 */
import { type Effect, Schema, type Stream } from "effect"
import type { Account, ApiKey, Entry } from "./records.ts"

/** Records that become durable together or not at all. A key or account that exists already is replaced. */
export interface Group {
  readonly accounts: ReadonlyArray<Account>
  readonly keys: ReadonlyArray<ApiKey>
  readonly entries: ReadonlyArray<Entry>
}

/** What the state is rebuilt from: records, and the sums of the entries. */
export interface Snapshot {
  /** Number of the last entry; 0 where there is none. */
  readonly sequence: number
  readonly accounts: ReadonlyArray<{ readonly account: Account; readonly balance: number }>
  readonly keys: ReadonlyArray<ApiKey>
  /** Credits charged per key and UTC month; see `monthOf`. */
  readonly spending: ReadonlyArray<{ readonly key_id: string; readonly month: number; readonly spent: number }>
}

export interface LedgerStore {
  /** Read once, before the first group. */
  readonly load: Effect.Effect<Snapshot, LedgerUnavailable>
  /**
   * Resolves when the group is durable. When it rejects, nothing of the group was kept, and the next group may bear the
   * same numbers. Never called again before the last call has ended.
   */
  readonly append: (group: Group) => Promise<void>
  /** Entries of an account in order,: all that were durable when the reading began. */
  readonly entriesOf: (accountId: string) => Stream.Stream<Entry, LedgerUnavailable>
}

const firstLine = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)).split("\n")[0]

/** The ledger cannot be written or read now: the disk is full or gone, the database is away. Trying again is right. */
export class LedgerUnavailable extends Schema.TaggedError<LedgerUnavailable>()("LedgerUnavailable", {
  action: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The ledger cannot ${this.action}: ${firstLine(this.cause)}`
  }
}

/** Another process holds the ledger. */
export class LedgerInUse extends Schema.TaggedError<LedgerInUse>()("LedgerInUse", { file: Schema.String }) {
  override get message() {
    return `${this.file} is held by another process: a larder-serve that is running, or a DuckDB client that has the ledger open. Stop it, or choose another LARDER_HOME.`
  }
}

/** What is on the disk is not what was written. Nothing is mended silently. */
export class LedgerDamaged extends Schema.TaggedError<LedgerDamaged>()("LedgerDamaged", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The ledger is damaged: ${this.file}: ${this.problem}. Nothing was changed. Restore the folder from a backup, or move the file away and book what it lost by hand.`
  }
}
