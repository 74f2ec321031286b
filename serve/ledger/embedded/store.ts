/** The storage of the embedded ledger: makes groups durable, in order, and returns everything when the ledger starts. */
import type { Effect, Stream } from "effect"
import type { Backup, BackupFailed, Input, UsageOfDay, Verification } from "../administration.ts"
import type { Anchor } from "../chain/anchor.ts"
import type { ApiKey, Entry } from "../chain/records.ts"
import type { LedgerDamaged, LedgerUnavailable } from "../errors.ts"
import type { Group, LedgerSnapshot } from "../rules/ledger-state.ts"
import type { SummedUsage } from "../summed-usage.ts"
import type { ServerHeads } from "./checks/verification.ts"

/** The fields of a key that affect calls, to compare the stored key with the one that the running server knows. */
export const joinKeyColumns = (key: ApiKey): string =>
  comparedKeyColumns.map((column) => (column === "scopes" ? JSON.stringify(key.scopes) : (key[column] ?? ""))).join(" ")
export const comparedKeyColumns = [
  "account_id",
  "revision",
  "budget_credits",
  "daily_budget_credits",
  "weekly_budget_credits",
  "sha256",
  "former_sha256",
  "former_expires_at",
  "scopes",
  "revoked_at",
  "expires_at"
] as const satisfies ReadonlyArray<keyof ApiKey>

export interface PageBefore extends Omit<Input<"entriesBefore">, "before"> {
  readonly before: number
}

export interface LedgerStore {
  /** Read once, before the first group. Fails if the stored data is inconsistent. */
  readonly load: Effect.Effect<LedgerSnapshot, LedgerUnavailable | LedgerDamaged>
  /**
   * Resolves when the group is durable. If it rejects, nothing of the group was kept, and the next group may use the
   * same numbers. Never called again before the previous call has ended.
   */
  readonly append: (group: Group) => Promise<void>
  /** Entries of an account in order: all that were durable when the read began. */
  readonly entriesOf: (accountId: string) => Stream.Stream<Entry, LedgerUnavailable>
  /** The `limit` newest entries of an account below a position, newest first, of some types or of all. */
  readonly entriesBefore: (page: PageBefore) => Effect.Effect<ReadonlyArray<Entry>, LedgerUnavailable>
  /** Entries of all accounts in write order: all that were durable when the read began. */
  readonly allEntries: Stream.Stream<Entry, LedgerUnavailable>
  readonly allGrants: Stream.Stream<LedgerSnapshot["grants"][number], LedgerUnavailable>
  readonly usage: (query: Input<"usage">) => Effect.Effect<ReadonlyArray<UsageOfDay>, LedgerUnavailable>
  readonly summedUsage: (query: Input<"summedUsage">) => Effect.Effect<SummedUsage, LedgerUnavailable>
  /** Checks all stored data against what the server held at the time of the request, and against the anchor. */
  readonly verify: (held: ServerHeads, anchor?: Anchor) => Effect.Effect<Verification, LedgerUnavailable>
  /** The compared columns of each key as it is stored, by its id; see `joinKeyColumns`. */
  readonly storedKeys: Effect.Effect<ReadonlyMap<string, string>, LedgerUnavailable>
  /** Copies everything that was durable at the time of the request into a new file. */
  readonly backup: (file: string) => Effect.Effect<Backup, BackupFailed | LedgerUnavailable>
}
