/** A store as the operations of `administer.ts` use it. */
import type { Effect, Stream } from "effect"
import type { AdministrationError, Input, KeySummary, Output } from "./administration.ts"
import type { ApiKey, Entry } from "./chain/records.ts"
import type { Decision } from "./rules/decisions.ts"

export type Operation<A> = Effect.Effect<A, AdministrationError>

/** What the operations require of a store. Unknown ids are errors. */
export interface AdministeredStore {
  readonly account: (id: string) => Operation<Output<"account">>
  /** Accounts and keys are listed oldest first; equally old ones are ordered by id. */
  readonly accounts: Operation<Output<"listAccounts">>
  readonly keys: (accountId: string, now: number) => Operation<ReadonlyArray<KeySummary>>
  readonly key: (id: string, now: number) => Operation<KeySummary>
  readonly accountOfKey: (id: string) => Operation<string>
  /** Called in a change: nothing else changes the key until the change ends. */
  readonly keyRecord: (id: string) => Operation<ApiKey>
  readonly countUnrevokedKeys: (accountId: string) => Operation<number>
  /** The account that has an entry with this reference and type. */
  readonly accountOfBooking: (type: Entry["type"], reference: string) => Operation<string | undefined>
  /** Runs `work` while nothing else changes these accounts. When it returns, its writes are durable and in effect. */
  readonly change: <A>(accountIds: ReadonlyArray<string>, work: (now: number) => Operation<A>) => Operation<A>
  /** Called at most once per change. */
  readonly write: (decision: Decision) => Operation<void>
  readonly usage: (query: Input<"usage">) => Operation<Output<"usage">>
  readonly summedUsage: (query: Input<"summedUsage">) => Operation<Output<"summedUsage">>
  readonly entriesBefore: (page: Input<"entriesBefore">) => Operation<Output<"entriesBefore">>
  readonly entriesOf: (accountId: string) => Stream.Stream<Entry, AdministrationError>
  readonly verify: Operation<Output<"verify">>
  readonly backup: (file: string) => Operation<Output<"backup">>
}
