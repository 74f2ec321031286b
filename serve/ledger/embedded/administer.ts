/** Carries out an operator's requests in the process that holds the ledger. One change at a time. */

import { Clock, Effect, Result, Schedule, Schema, Semaphore, Stream } from "effect"
import {
  type AccountSummary,
  Administration,
  type AdministrationError,
  Booking,
  type KeySummary
} from "../administration.ts"
import { fingerprint, last4, newApiKey } from "../api-key.ts"
import type { ChainHead } from "../chain/chain.ts"
import { unavailable } from "../errors.ts"
import { dayOf } from "../moments.ts"
import { newId } from "../random-text.ts"
import {
  bookOnce,
  creditAccount,
  type Decision,
  editKey,
  expireGrants,
  issueKey,
  nothing,
  openAccount,
  revokeKey,
  rotateKey,
  UnknownAccount,
  unknownKey
} from "../rules/decisions.ts"
import { type AccountState, bookingOf, type KeyState, type LedgerState } from "../rules/ledger-state.ts"
import { spentInMonth, spentInWeek, spentOnDay } from "../rules/spending.ts"
import { accountSummary, keySummary } from "../summaries.ts"
import type { GroupWriter } from "./embedded-ledger.ts"
import { keyText, type LedgerStore } from "./store.ts"

const summaryOf = ({ grants, head, record }: AccountState, now: number): AccountSummary =>
  accountSummary(record, head.balance, grants, now)

const summaryOfKey = (key: KeyState, now: number): KeySummary => {
  const day = dayOf(now)
  return keySummary(key.record, {
    month: spentInMonth(key, day),
    week: spentInWeek(key, day),
    day: spentOnDay(key, day)
  })
}

const decodeBooking = Schema.decodeEffect(Booking)

interface Aged {
  readonly record: { readonly id: string; readonly created_at: string }
}
/** Oldest first. Equally old ones are ordered by id. */
const byAge = (a: Aged, b: Aged) => (ageOf(a) < ageOf(b) ? -1 : 1)
const ageOf = ({ record: { created_at, id } }: Aged) => `${created_at} ${id}`

const mostProblems = 100
const everySecond = "1 second"

const textsOf = ({ keys }: LedgerState) =>
  new Map([...keys.values()].map(({ record }): [string, string] => [record.id, keyText(record)]))

/**
 * Keys that another process has changed in the file: the stored key matches neither what this process knew before the
 * read nor what it knows now.
 */
const changedKeys = (
  before: ReadonlyMap<string, string>,
  stored: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>
): ReadonlyArray<string> => [
  ...[...stored].flatMap(([id, text]) =>
    text === before.get(id) || text === now.get(id) ? [] : [`key ${id} is not what the running server knows`]
  ),
  ...[...before.keys()].flatMap((id) =>
    stored.has(id) ? [] : [`key ${id} is known to the running server, and is not there`]
  )
]

/** A server removes expired credits every second. A command does so only before it shows or changes a balance. */
export type LedgerUser = "server" | "command"

export const administerEmbedded = Effect.fnUntraced(function* (
  state: LedgerState,
  writer: GroupWriter,
  store: LedgerStore,
  user: LedgerUser
) {
  const oneAtATime = yield* Semaphore.make(1)

  const accountOf = (id: string) => {
    const account = state.accounts.get(id)
    return account === undefined ? Result.fail(new UnknownAccount({ id })) : Result.succeed(account)
  }
  const keyOf = (id: string) => {
    const key = state.keys.get(id)
    return key === undefined ? Result.fail(unknownKey(id)) : Result.succeed(key)
  }
  const keysOf = (accountId: string) => [...state.keys.values()].filter(({ record }) => record.account_id === accountId)
  const validKeysOf = (accountId: string) => keysOf(accountId).filter(({ record }) => record.revoked_at === null).length

  const write = (decision: Decision) =>
    Effect.tryPromise({ try: () => writer.decide(decision), catch: unavailable("be written") })

  /** Decides on the current state, and waits until the decision is durable and in force. */
  const decide = <E>(decideAt: (now: number) => Result.Result<Decision, E>) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const decision = yield* Effect.fromResult(decideAt(now))
      if (decision !== nothing) yield* write(decision)
      return { now, decision }
    }).pipe(oneAtATime.withPermit, Effect.uninterruptible)
  const change = <E>(decideAt: (now: number) => Result.Result<Decision, E>) =>
    Effect.map(decide(decideAt), ({ now }) => now)

  /** Removes expired credits from the balances. */
  const expire = (accounts: () => ReadonlyArray<AccountState>) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const ended = accounts().flatMap((account) => {
        const entries = expireGrants(account.record.id, account.grants, now)
        return entries.length === 0 ? [] : [{ account, entries }]
      })
      if (ended.length === 0) return
      // until this is written, a call whose clock is behind could spend them
      for (const { account } of ended) account.expiredAt = now
      yield* Effect.ensuring(
        write({ ...nothing, entries: ended.flatMap(({ entries }) => entries) }),
        Effect.sync(() => {
          for (const { account } of ended) account.expiredAt = 0
        })
      )
    }).pipe(oneAtATime.withPermit, Effect.uninterruptible)
  /** Runs before balances are returned. If the write fails, charges report it, and it is tried again later. */
  const upToDate = Effect.ignore(expire(() => [...state.granted]))
  const upToDateOf = (id: string) =>
    Effect.ignore(
      expire(() => {
        const account = state.accounts.get(id)
        return account !== undefined && state.granted.has(account) ? [account] : []
      })
    )
  if (user === "server") yield* Effect.forkScoped(Effect.repeat(upToDate, Schedule.spaced(everySecond)))

  const account = (id: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.map(Effect.fromResult(accountOf(id)), (found) => summaryOf(found, now))
    )
  const key = (id: string, now: number) => Effect.map(Effect.fromResult(keyOf(id)), (found) => summaryOfKey(found, now))

  return Administration.of({
    createAccount: Effect.fn("Administration.createAccount")(function* ({ name }) {
      const id = yield* newId("acct_")
      yield* change((now) => Result.succeed(openAccount(id, name, now)))
      return yield* account(id)
    }),
    listAccounts: Effect.fn("Administration.listAccounts")(function* () {
      yield* upToDate
      const now = yield* Clock.currentTimeMillis
      return [...state.accounts.values()].toSorted(byAge).map((found) => summaryOf(found, now))
    }),
    creditAccount: Effect.fn("Administration.creditAccount")(function* ({
      account_id,
      expires_at = null,
      ...credited
    }) {
      yield* upToDateOf(account_id)
      yield* change((now) =>
        Result.flatMap(accountOf(account_id), (found) =>
          creditAccount(summaryOf(found, now), { ...credited, expires_at }, now)
        )
      )
      return yield* account(account_id)
    }),
    account: ({ account_id }) => Effect.andThen(upToDateOf(account_id), account(account_id)),
    book: Effect.fn("Administration.book")(function* (asked) {
      const booking = yield* Effect.orDie(decodeBooking(asked)) // callers in this process have checked it
      const { account_id, reference, type } = booking
      yield* upToDateOf(account_id)
      const { decision } = yield* decide((now) =>
        Result.flatMap(accountOf(account_id), (found) =>
          bookOnce(summaryOf(found, now), booking, state.booked.get(bookingOf(type, reference)), now)
        )
      )
      const { balance_credits } = yield* account(account_id)
      return { booked: decision !== nothing, balance_credits }
    }),
    createKey: Effect.fn("Administration.createKey")(function* ({ account_id, ...settings }) {
      const id = yield* newId("key_")
      const secret = yield* Effect.sync(newApiKey)
      const asked = { ...settings, id, account_id, sha256: fingerprint(secret), last4: last4(secret) }
      const now = yield* change((now) =>
        Result.flatMap(accountOf(account_id), () => issueKey(asked, validKeysOf(account_id), now))
      )
      return { key: secret, ...(yield* key(id, now)) }
    }),
    listKeys: Effect.fn("Administration.listKeys")(function* ({ account_id }) {
      yield* account(account_id)
      const now = yield* Clock.currentTimeMillis
      return keysOf(account_id)
        .toSorted(byAge)
        .map((found) => summaryOfKey(found, now))
    }),
    editKey: Effect.fn("Administration.editKey")(function* ({ key_id, ...changes }) {
      const now = yield* change((now) => Result.flatMap(keyOf(key_id), ({ record }) => editKey(record, changes, now)))
      return yield* key(key_id, now)
    }),
    rotateKey: Effect.fn("Administration.rotateKey")(function* ({ key_id, overlap_hours }) {
      const secret = yield* Effect.sync(newApiKey)
      const made = { sha256: fingerprint(secret), last4: last4(secret) }
      const now = yield* change((now) =>
        Result.flatMap(keyOf(key_id), ({ record }) => rotateKey(record, made, overlap_hours, now))
      )
      return { key: secret, ...(yield* key(key_id, now)) }
    }),
    revokeKey: Effect.fn("Administration.revokeKey")(function* ({ key_id }) {
      const now = yield* change((now) => Result.map(keyOf(key_id), ({ record }) => revokeKey(record, now)))
      return yield* key(key_id, now)
    }),
    usage: Effect.fn("Administration.usage")(function* (of) {
      yield* account(of.account_id)
      return yield* store.usage(of)
    }),
    summedUsage: Effect.fn("Administration.summedUsage")(function* (of) {
      yield* account(of.account_id)
      return yield* store.summedUsage(of)
    }),
    entriesBefore: Effect.fn("Administration.entriesBefore")(function* ({ before, ...of }) {
      yield* upToDateOf(of.account_id)
      const { head } = yield* Effect.fromResult(accountOf(of.account_id))
      return yield* store.entriesBefore({ ...of, before: Math.min(before ?? head.position + 1, head.position + 1) })
    }),
    verify: ({ anchor }) =>
      Effect.gen(function* () {
        const heads = new Map([...state.accounts].map(([id, { head }]): [string, ChainHead] => [id, head]))
        const found = yield* store.verify({ sequence: state.sequence, heads }, anchor)
        const before = textsOf(state)
        const changed = changedKeys(before, yield* store.keyTexts, textsOf(state))
        return { ...found, problems: [...found.problems, ...changed].slice(0, mostProblems) }
      }),
    backup: ({ file }) => Effect.andThen(upToDate, store.backup(file)),
    entriesOf: (accountId) =>
      Stream.unwrap(
        Effect.as(Effect.andThen(upToDateOf(accountId), account(accountId)), store.entriesOf(accountId))
      ) satisfies Stream.Stream<unknown, AdministrationError>
  })
})
