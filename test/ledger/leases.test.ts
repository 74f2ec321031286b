/** Leases: accounts that one server decides in its memory, while other servers and commands compete for them. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { type LedgerAccess, LedgerUnavailable } from "@larder/serve/ledger"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { startFaultyProxy } from "./faulty-proxy.ts"
import { clockAt } from "./histories/world.ts"
import {
  admit,
  catchError,
  client,
  database,
  eagerLeases,
  hold,
  type Key,
  lockAccount,
  makeKey,
  open,
  openEager,
  readBalance,
  readEntries,
  waitUntil
} from "./shared-ledger.ts"

/** Makes the server take the lease of the account. */
const takeLease = (ledger: LedgerAccess, key: Key) =>
  Effect.promise(async () => (await admit(ledger, key, 1)).release())
const readLease = (url: string) =>
  Effect.flatMap(client(url), (sql) =>
    Effect.map(sql<{ leased_by: string | null }>`select leased_by from ledger.account`, ([row]) => row?.leased_by)
  )

/** Runs `work` while another session has locked the account. */
const whileLocked = Effect.fnUntraced(function* <A, E, R>(url: string, id: string, work: Effect.Effect<A, E, R>) {
  const release = yield* Deferred.make<void>()
  const locking = yield* lockAccount(url, id, Deferred.await(release))
  const result = yield* work
  yield* Deferred.succeed(release, undefined)
  yield* Fiber.join(locking)
  return result
})

describe("an account that a server has leased", () => {
  it.live("is decided without the database, and charged in the database", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* openEager(url)
      const key = yield* makeKey(ledger, 300)
      yield* takeLease(ledger, key)
      const holds = yield* whileLocked(
        url,
        key.account_id,
        Effect.promise(() => Promise.all([0, 1, 2].map(() => admit(ledger, key, 100))))
      )
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "monthly_spend_cap_reached")
      yield* Effect.promise(() => Promise.all(holds.map((held, call) => held.commit(`req_${call}`))))
      assert.strictEqual((yield* readEntries(ledger, key)).length, 4)
      assert.strictEqual(yield* readBalance(ledger, key), 4_700)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("moves to another server that requests it, with all its holds, and to the one that keeps calling", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(one)
      yield* takeLease(one, key)
      const first = yield* readLease(url)
      assert.isNotNull(first)
      const held = yield* Effect.promise(() => admit(one, key, 4_950))
      assert.strictEqual(yield* Effect.promise(() => hold(other, key, 100)), "insufficient_balance")
      assert.isNull(yield* readLease(url))
      yield* Effect.promise(() => held.commit("req_here"))
      yield* Effect.promise(async () => (await admit(other, key, 50)).commit("req_there"))
      yield* Effect.promise(() => sleep(eagerLeases.sharedDuration))
      for (const _ of [1, 2]) yield* Effect.promise(() => hold(other, key, 1))
      assert.notInclude([null, undefined, first], yield* readLease(url))
      assert.deepStrictEqual((yield* one.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("is returned within two seconds when no notification of the request arrives", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(one)
      yield* takeLease(one, key)
      const sql = yield* client(url)
      yield* sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen%'`
      const startedAt = performance.now()
      yield* Effect.promise(async () => (await admit(other, key, 5_000)).commit("req_1"))
      assert.isBelow(performance.now() - startedAt, 2_500)
      assert.strictEqual(yield* Effect.promise(() => hold(one, key, 1)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )

  it.live("applies a change by an operator from the next call on", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [ledger, { administration }] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(ledger)
      const { account_id, id: key_id } = key
      const next = (credits: number) => Effect.promise(() => hold(ledger, key, credits))
      yield* takeLease(ledger, key)
      yield* administration.creditAccount({ account_id, credits: 1_000, note: "more" })
      const all = yield* Effect.promise(() => admit(ledger, key, 6_000))
      yield* administration.editKey({ key_id, budget_credits: 6_000 })
      const view = yield* Effect.promise(() => ledger.authenticate(key.key, Date.now()))
      assert.isFalse(yield* Effect.promise(async () => view !== undefined && ledger.isCurrent(view, Date.now())))
      yield* next(1) // looks the key up again
      yield* Effect.promise(() => all.commit("req_1"))
      yield* administration.book({ account_id, type: "top_up", credits: 100, reference: "pay_1", note: "paid" })
      assert.strictEqual(yield* next(1), "monthly_spend_cap_reached")
      yield* administration.revokeKey({ key_id })
      assert.strictEqual(yield* next(1), "key_changed")
      assert.strictEqual(yield* next(1), "unknown")
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live(
    "is free once its server has been silent for five seconds, and the holds of that server are not charged",
    () =>
      Effect.gen(function* () {
        const url = yield* database
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => startFaultyProxy(url)),
          ({ close }) => Effect.promise(close)
        )
        const [silent, next] = yield* Effect.all([openEager(proxy.url), openEager(url)])
        const key = yield* makeKey(next)
        yield* takeLease(silent, key)
        const held = yield* Effect.promise(() => admit(silent, key, 5_000))
        proxy.cut()
        const startedAt = performance.now()
        yield* Effect.promise(async () => (await admit(next, key, 5_000)).commit("req_next"))
        assert.isBelow(performance.now() - startedAt, 8_000)
        assert.instanceOf(yield* Effect.promise(() => catchError(held.commit("req_silent"))), LedgerUnavailable)
        proxy.repair()
        yield* Effect.promise(() => waitUntil(silent.writable))
        assert.strictEqual(yield* Effect.promise(() => hold(silent, key, 1)), "insufficient_balance")
        assert.deepStrictEqual(
          (yield* readEntries(next, key)).map(({ request_id }) => request_id),
          [null, "req_next"]
        )
      }).pipe(Effect.scoped)
  )

  it.live("is not decided from the memory of a suspended machine, whose monotonic clock stood still", () =>
    Effect.gen(function* () {
      const url = yield* database
      let suspendedMs = 0
      const clock = clockAt(() => Date.now() + suspendedMs)
      const suspended = yield* Effect.provideService(openEager(url), Clock.Clock, clock)
      const next = yield* openEager(url)
      const key = yield* makeKey(next)
      yield* takeLease(suspended, key)
      const sql = yield* client(url)
      yield* sql`delete from ledger.server where id = (select leased_by from ledger.account)` // it was silent
      yield* Effect.promise(async () => (await admit(next, key, 5_000)).commit("req_next"))
      suspendedMs = 6_000
      assert.instanceOf(yield* Effect.promise(() => catchError(hold(suspended, key, 100))), LedgerUnavailable)
      yield* Effect.promise(() => waitUntil(suspended.writable))
      assert.strictEqual(yield* Effect.promise(() => hold(suspended, key, 100)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )

  it.live("is not leased while another server holds credits of it", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([open(url), openEager(url)])
      const key = yield* makeKey(one)
      const held = yield* Effect.promise(() => admit(one, key, 100))
      for (const _ of [1, 2, 3]) yield* takeLease(other, key)
      assert.isNull(yield* readLease(url))
      yield* Effect.promise(() => held.commit("req_1"))
    }).pipe(Effect.scoped)
  )
})

describe("a database that has lost what a server wrote", () => {
  const losses = {
    "a decision": "update ledger.server set groups = groups - 1",
    "an entry": `with deleted as (delete from ledger.entry where position > 1),
      deleted_too as (delete from ledger.spent_in_month), usage as (delete from ledger.usage_of_day),
      more as (delete from ledger.usage_of_month), all_usage as (delete from ledger.usage_of_endpoint)
      update ledger.account set position = 1, balance = 5000, hash = entry.hash from ledger.entry where entry.position = 1`
  }
  it.live.each(Object.entries(losses))("makes the server join again, without a charge: %s", ([, loss]) =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* openEager(url)
      const key = yield* makeKey(ledger)
      yield* Effect.promise(async () => (await admit(ledger, key, 100)).commit("req_1"))
      const before = (yield* readEntries(ledger, key)).length
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const sql = yield* client(url)
      yield* sql.unsafe(loss)
      const remaining = (yield* readEntries(ledger, key)).length
      assert.instanceOf(yield* Effect.promise(() => catchError(held.commit("req_2"))), LedgerUnavailable)
      yield* Effect.promise(() => waitUntil(ledger.writable))
      assert.isAtMost(remaining, before)
      assert.strictEqual((yield* readEntries(ledger, key)).length, remaining)
      yield* Effect.promise(async () => (await admit(ledger, key, 100)).commit("req_3"))
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
