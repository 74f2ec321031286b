/** The administration of the ledger that this process holds in memory and in a file. Changes run one at a time. */
import { Clock, Effect, Semaphore } from "effect"
import { administer, summarizeKey } from "../administer.ts"
import type { AccountSummary, KeySummary } from "../administration.ts"
import type { ChainHead } from "../chain/chain.ts"
import { toLedgerUnavailable } from "../errors.ts"
import { type Decision, keyNotFound, UnknownAccount } from "../rules/decisions.ts"
import { type AccountState, bookingId, type KeyState, type LedgerState } from "../rules/ledger-state.ts"
import { openMonth } from "../rules/spending.ts"
import { monthOf } from "../utc-calendar.ts"
import type { LedgerStore } from "./embedded-store.ts"
import type { GroupWriter } from "./group-writer.ts"
import { keyCells } from "./write-group.ts"

const summarizeAccount = ({ head, record }: AccountState): AccountSummary => ({
  ...record,
  balance_credits: head.balance
})

const summarizeKeyState = (key: KeyState, now: number): KeySummary =>
  summarizeKey(key.record, openMonth(key, monthOf(now)).spent)

interface Dated {
  readonly record: { readonly id: string; readonly created_at: string }
}
const toSortKey = ({ record: { created_at, id } }: Dated) => `${created_at} ${id}`
const oldestFirst = (a: Dated, b: Dated) => (toSortKey(a) < toSortKey(b) ? -1 : 1)

const maxProblems = 100

const serializeKeys = ({ keys }: LedgerState) =>
  new Map([...keys.values()].map(({ record }): [string, string] => [record.id, JSON.stringify(keyCells(record))]))

/** Keys that differ between the file and this process. A key that was changed during the read may have either state. */
const findChangedKeys = (
  before: ReadonlyMap<string, string>,
  stored: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>
): ReadonlyArray<string> => [
  ...[...stored].flatMap(([id, key]) =>
    key === before.get(id) || key === now.get(id)
      ? []
      : [`key ${id} in the file differs from the one in the running server`]
  ),
  ...[...before.keys()].flatMap((id) =>
    stored.has(id) ? [] : [`key ${id} exists in the running server, but is missing in the file`]
  )
]

export const administerEmbedded = Effect.fnUntraced(function* (
  state: LedgerState,
  writer: GroupWriter,
  store: LedgerStore
) {
  const changeLock = yield* Semaphore.make(1)

  const findAccount = (id: string) =>
    Effect.suspend(() => {
      const account = state.accounts.get(id)
      return account === undefined ? Effect.fail(new UnknownAccount({ id })) : Effect.succeed(account)
    })
  const findKey = (id: string) =>
    Effect.suspend(() => {
      const key = state.keys.get(id)
      return key === undefined ? Effect.fail(keyNotFound(id)) : Effect.succeed(key)
    })
  const listKeys = (accountId: string) =>
    [...state.keys.values()].filter(({ record }) => record.account_id === accountId)
  const write = (decision: Decision) =>
    Effect.tryPromise({ try: () => writer.decide(decision), catch: toLedgerUnavailable("be written") })

  return administer({
    account: (id) => Effect.map(findAccount(id), summarizeAccount),
    accounts: Effect.sync(() => [...state.accounts.values()].toSorted(oldestFirst).map(summarizeAccount)),
    keys: (accountId, now) =>
      Effect.sync(() =>
        listKeys(accountId)
          .toSorted(oldestFirst)
          .map((key) => summarizeKeyState(key, now))
      ),
    key: (id, now) => Effect.map(findKey(id), (key) => summarizeKeyState(key, now)),
    accountOfKey: (id) => Effect.map(findKey(id), ({ record }) => record.account_id),
    keyRecord: (id) => Effect.map(findKey(id), ({ record }) => record),
    countUnrevokedKeys: (accountId) =>
      Effect.sync(() => listKeys(accountId).filter(({ record }) => record.revoked_at === null).length),
    accountOfBooking: (type, reference) => Effect.sync(() => state.booked.get(bookingId(type, reference))),
    change: (_, work) =>
      Effect.flatMap(Clock.currentTimeMillis, work).pipe(changeLock.withPermit, Effect.uninterruptible),
    write,
    usage: store.usage,
    summedUsage: store.summedUsage,
    entriesBefore: ({ before, ...page }) =>
      Effect.flatMap(findAccount(page.account_id), ({ head: { position } }) =>
        store.entriesBefore({ ...page, before: Math.min(before ?? position + 1, position + 1) })
      ),
    entriesOf: store.entriesOf,
    verify: Effect.gen(function* () {
      const heads = new Map([...state.accounts].map(([id, { head }]): [string, ChainHead] => [id, head]))
      const verification = yield* store.verify({ sequence: state.sequence, heads })
      const before = serializeKeys(state)
      const changed = findChangedKeys(before, yield* store.storedKeys, serializeKeys(state))
      return { ...verification, problems: [...verification.problems, ...changed].slice(0, maxProblems) }
    }),
    backup: store.backup
  })
})
