/** The ledger in PostgreSQL: ledgers of this process share a database, as servers do. */
import { mkdtempSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { type AdministrationError, type AdmittedCall, type LedgerAccess, LedgerUnavailable } from "@larder/serve/ledger"
import type { CommitOutcome } from "@larder/serve/ledger/ledger.ts"
import { openInDoubtFiles } from "@larder/serve/ledger/postgres/in-doubt/in-doubt-files.ts"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { startFaultyProxy } from "./faulty-proxy.ts"
import {
  admit,
  catchError,
  client,
  database,
  hold,
  inDoubtFolder,
  type Key,
  lock,
  lockAccount,
  makeKey,
  november,
  october,
  open,
  readBalance,
  readEntries,
  waitUntil
} from "./shared-ledger.ts"

describe("servers that share a ledger", () => {
  it.live("start together on an empty database", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([open(url), open(url), open(url)], { concurrency: "unbounded" })
      for (const ledger of ledgers) assert.isTrue(ledger.writable())
    }).pipe(Effect.scoped)
  )

  it.live("count a hold towards the month of its admission", () =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* makeKey(ledger, 100)
      const before = yield* Effect.promise(() => admit(ledger, key, 100, october))
      const after = yield* Effect.promise(() => admit(ledger, key, 100, november))
      yield* Effect.promise(() => Promise.all([after.commit("req_n"), before.commit("req_o")]))
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, october)), "monthly_spend_cap_reached")
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, november)), "monthly_spend_cap_reached")
      const charges = (yield* readEntries(ledger, key)).slice(1)
      assert.deepStrictEqual(charges.map(({ occurred_at, request_id }) => [request_id, occurred_at]).toSorted(), [
        ["req_n", "2026-11-01T00:00:00.000Z"],
        ["req_o", "2026-10-31T23:59:59.999Z"]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("admit calls for the same credits, and charge those that come first", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([open(url), open(url)])
      const key = yield* makeKey(one)
      const [first, second] = yield* Effect.promise(() =>
        Promise.all([admit(one, key, 4_950), admit(other, key, 4_950)])
      )
      assert.strictEqual(yield* Effect.promise(() => second.commit("req_2")), "charged")
      assert.strictEqual(yield* Effect.promise(() => first.commit("req_1")), "insufficient_balance")
      assert.strictEqual(yield* readBalance(one, key), 50)
      yield* Effect.promise(async () => (await admit(one, key, 50)).release()) // the refused call holds nothing
      assert.strictEqual(one.counters.refused_insufficient_balance, 1)
    }).pipe(Effect.scoped)
  )
})

describe("an operator's change between the admission of a call and its charge", () => {
  const changes = {
    "a revocation": ["unknown_key", ({ revokeKey }, { id }) => revokeKey({ key_id: id })],
    "a replaced secret": ["unknown_key", ({ rotateKey }, { id }) => rotateKey({ key_id: id, overlap_hours: 0 })],
    "a suspension": ["account_suspended", ({ suspendAccount }, { account_id }) => suspendAccount({ account_id })],
    "a removed scope": ["missing_scope", ({ editKey }, { id }) => editKey({ key_id: id, scopes: ["search-stores"] })],
    "a lower budget": [
      "monthly_spend_cap_reached",
      ({ editKey }, { id }) => editKey({ key_id: id, budget_credits: 99 })
    ],
    "a debit": [
      "insufficient_balance",
      ({ debitAccount }, { account_id }) => debitAccount({ account_id, credits: 4_901, note: "taken back" })
    ],
    "a kept secret": ["charged", ({ rotateKey }, { id }) => rotateKey({ key_id: id, overlap_hours: 1 })],
    "a higher budget": ["charged", ({ editKey }, { id }) => editKey({ key_id: id, budget_credits: 2_000_000 })]
  } satisfies Readonly<
    Record<
      string,
      readonly [
        CommitOutcome,
        (administration: LedgerAccess["administration"], key: Key) => Effect.Effect<unknown, AdministrationError>
      ]
    >
  >
  it.live.each(Object.entries(changes))("decides the call: %s", ([, [expected, change]]) =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* makeKey(ledger)
      const held = yield* Effect.promise(() => admit(ledger, key, 100, Date.now()))
      yield* change(ledger.administration, key)
      assert.strictEqual(yield* Effect.promise(() => held.commit("req_1")), expected)
      const charges = (yield* readEntries(ledger, key)).filter(({ type }) => type === "charge")
      assert.strictEqual(charges.length, expected === "charged" ? 1 : 0)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})

describe("a lock of another session in the database", () => {
  /** Calls are refused for five seconds after a group met the lock. */
  const waitUntilServed = (ledger: LedgerAccess, key: Key, credits = 5_000) =>
    Effect.promise(async () => {
      const retry = (): Promise<AdmittedCall> => admit(ledger, key, credits).catch(() => sleep(50).then(retry))
      ;(await retry()).release()
    })

  it.live("makes calls of its account fail without a charge, until it is released", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const [stuck, other] = yield* Effect.all([makeKey(ledger), makeKey(ledger)])
      const before = yield* Effect.promise(() => admit(ledger, stuck, 100))
      const free = yield* lock(url, "select from ledger.account where id = $1 for update", [stuck.account_id])
      const outcomes = yield* Effect.promise(() =>
        Promise.allSettled([
          before.commit("req_stuck"),
          admit(ledger, stuck, 100).then((held) => held.commit("req_stuck_too")),
          ...Array.from({ length: 5 }, async (_, call) => (await admit(ledger, other, 100)).commit(`req_${call}`))
        ])
      )
      assert.deepStrictEqual(
        outcomes.map(({ status }) => status),
        ["rejected", "rejected", ...Array.from({ length: 5 }, () => "fulfilled")]
      )
      assert.isTrue(ledger.writable())
      assert.instanceOf(yield* Effect.promise(() => catchError(hold(ledger, stuck, 100))), LedgerUnavailable) // at once
      yield* free
      yield* waitUntilServed(ledger, stuck)
      assert.strictEqual((yield* readEntries(ledger, stuck)).length, 1)
      assert.strictEqual((yield* readEntries(ledger, other)).length, 6)
    }).pipe(Effect.scoped)
  )

  it.live("makes all calls fail without a charge if it covers all accounts, until it is released", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const keys = yield* Effect.all([makeKey(ledger), makeKey(ledger)])
      const before = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
      const free = yield* lock(url, "lock table ledger.account in access exclusive mode")
      const outcomes = yield* Effect.promise(() =>
        Promise.allSettled([
          ...before.map((held, call) => held.commit(`req_${call}`)),
          ...keys.map((key, call) => admit(ledger, key, 100).then((held) => held.commit(`req_more_${call}`)))
        ])
      )
      assert.deepStrictEqual(
        outcomes.map(({ status }) => status),
        Array.from({ length: 4 }, () => "rejected")
      )
      yield* free
      for (const key of keys) {
        yield* waitUntilServed(ledger, key)
        assert.strictEqual((yield* readEntries(ledger, key)).length, 1)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a request id that was charged already", () => {
  it.live("is rejected on every server, and is not charged again", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([open(url), open(url)])
      const key = yield* makeKey(one)
      yield* Effect.promise(async () => (await admit(one, key, 100)).commit("req_1"))
      for (const ledger of [one, other]) {
        const holds = yield* Effect.promise(() => Promise.all([0, 1, 2].map(() => admit(ledger, key, 100))))
        const ids = [ledger === one ? "req_2" : "req_3", "req_1", ledger === one ? "req_4" : "req_5"]
        const ends = yield* Effect.promise(() =>
          Promise.allSettled(holds.map((held, index) => held.commit(ids[index] ?? "")))
        )
        assert.deepStrictEqual(
          ends.map(({ status }) => status),
          ["fulfilled", "rejected", "fulfilled"]
        )
      }
      assert.strictEqual(yield* readBalance(one, key), 4_500)
      yield* Effect.promise(async () => (await admit(other, key, 4_500)).release())
    }).pipe(Effect.scoped)
  )
})

describe("a charge whose response is lost", () => {
  const commitMessage = 2
  const readMovements = (ledger: LedgerAccess, key: Key) =>
    Effect.map(readEntries(ledger, key), (entries) =>
      entries.map(({ credits, request_id, type }) => [type, credits, request_id])
    )
  const waitUntilRefunded = Effect.fnUntraced(function* (ledger: LedgerAccess, key: Key) {
    while ((yield* readEntries(ledger, key)).length < 3) yield* Effect.sleep("20 millis")
  })
  const chargedAndRefunded = [
    ["grant", 5_000, null],
    ["charge", -100, "req_1"],
    ["refund", 100, "req_1"]
  ]

  /** Otherwise the first messages would open the connection. */
  const connectForCharges = Effect.fnUntraced(function* (ledger: LedgerAccess) {
    const key = yield* makeKey(ledger)
    yield* Effect.promise(async () => (await admit(ledger, key, 1)).commit("req_0"))
  })

  const openBehindProxy = Effect.fnUntraced(function* () {
    const url = yield* database
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => startFaultyProxy(url)),
      ({ close }) => Effect.promise(close)
    )
    const ledger = yield* open(proxy.url)
    yield* connectForCharges(ledger)
    const key = yield* makeKey(ledger)
    const held = yield* Effect.promise(() => admit(ledger, key, 100))
    return { proxy, ledger, key, held, observer: yield* open(url) }
  })

  it.live("is found to be charged, once, when the database is back in time", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, proxy } = yield* openBehindProxy()
      proxy.loseResponses(commitMessage)
      const charged = held.commit("req_1")
      yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
      const refused = yield* Effect.flip(
        Effect.tryPromise({ try: () => hold(ledger, key, 10), catch: (cause) => cause })
      )
      assert.instanceOf(refused, LedgerUnavailable) // immediately, while the database is away
      proxy.repair()
      yield* Effect.promise(() => charged)
      const requests = (yield* readEntries(observer, key)).map(({ credits, request_id }) => [credits, request_id])
      assert.deepStrictEqual(requests, [
        [5_000, null],
        [-100, "req_1"]
      ])
      yield* Effect.promise(async () => (await admit(ledger, key, 4_900)).release())
    }).pipe(Effect.scoped)
  )

  it.live("fails when the database stays away, and is refunded when it returns", () =>
    Effect.gen(function* () {
      const { held, key, observer, proxy } = yield* openBehindProxy()
      proxy.loseResponses(commitMessage)
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      assert.instanceOf(error, LedgerUnavailable)
      assert.strictEqual(yield* readBalance(observer, key), 4_900) // it is still unknown whether it is charged
      proxy.repair()
      yield* waitUntilRefunded(observer, key)
      assert.deepStrictEqual(yield* readMovements(observer, key), chargedAndRefunded)
    }).pipe(Effect.scoped)
  )

  it.live("is refunded by the next server when this one stops before the database returns", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ownFolder = mkdtempSync(path.join(inDoubtFolder, "own-"))
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startFaultyProxy(url)),
        ({ close }) => Effect.promise(close)
      )
      const scope = yield* Scope.make()
      const ledger = yield* Scope.provide(open(proxy.url, ownFolder), scope)
      yield* connectForCharges(ledger)
      const key = yield* makeKey(ledger)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      proxy.loseResponses(commitMessage)
      const charged = Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      const error = yield* Effect.forkChild(charged)
      yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
      yield* Scope.close(scope, Exit.void) // closes, although the database is away
      assert.match(String(yield* Fiber.join(error)), /if the call was charged, it is refunded/)

      const next = yield* open(url, ownFolder)
      yield* waitUntilRefunded(next, key)
      assert.strictEqual(yield* readBalance(next, key), 5_000)
      const [summary] = yield* next.administration.listKeys({ account_id: key.account_id })
      assert.strictEqual(summary?.id, key.id)
      assert.deepStrictEqual(yield* readMovements(next, key), chargedAndRefunded)
      const sql = yield* client(url)
      const [spent] = yield* sql<{
        credits: bigint
      }>`select credits from ledger.spent_in_month where key_id = ${key.id}`
      assert.strictEqual(Number(spent?.credits), 0) // a refunded call does not count towards the budget
    }).pipe(Effect.scoped)
  )

  /** Stores in-doubt calls, like a server that was killed before it found out whether they were charged. */
  const storeInDoubt = (calls: ReadonlyArray<readonly [request_id: string, key: Key]>) => {
    const directory = mkdtempSync(path.join(inDoubtFolder, "in-doubt-"))
    const { add, list } = openInDoubtFiles(directory)
    add(calls.map(([request_id, { account_id }]) => ({ request_id, account_id })))
    return { directory, unresolved: () => list().length }
  }

  it.live("is refunded after a lock on its account, which delays neither the server nor other refunds", () =>
    Effect.gen(function* () {
      const url = yield* database
      const before = yield* open(url)
      const [stuck, other, served] = yield* Effect.all([makeKey(before), makeKey(before), makeKey(before)])
      yield* Effect.promise(async () => (await admit(before, stuck, 100)).commit("req_stuck"))
      yield* Effect.promise(async () => (await admit(before, other, 100)).commit("req_1"))
      const { directory, unresolved } = storeInDoubt([
        ["req_stuck", stuck],
        ["req_1", other],
        ["req_never_charged", other]
      ])
      const release = yield* Deferred.make<void>()
      const locking = yield* lockAccount(url, stuck.account_id, Deferred.await(release))

      const startedAt = performance.now()
      const ledger = yield* open(url, directory)
      yield* Effect.promise(async () => (await admit(ledger, served, 100)).commit("req_served"))
      assert.isBelow(performance.now() - startedAt, 2_000)
      yield* waitUntilRefunded(ledger, other)
      assert.strictEqual(unresolved(), 1) // until the last refund is durable
      assert.strictEqual((yield* readEntries(ledger, stuck)).length, 2)

      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(locking)
      yield* waitUntilRefunded(ledger, stuck)
      yield* Effect.promise(() => waitUntil(() => unresolved() === 0))
      assert.deepStrictEqual(yield* readMovements(ledger, other), chargedAndRefunded)
      assert.strictEqual(yield* readBalance(ledger, stuck), 5_000)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("is refunded once by two servers that find the same file", () =>
    Effect.gen(function* () {
      const url = yield* database
      const before = yield* open(url)
      const key = yield* makeKey(before)
      yield* Effect.promise(async () => (await admit(before, key, 100)).commit("req_1"))
      const { directory, unresolved } = storeInDoubt([["req_1", key]])
      const release = yield* Deferred.make<void>()
      const locking = yield* lockAccount(url, key.account_id, Deferred.await(release))
      yield* Effect.all([open(url, directory), open(url, directory)])
      yield* untilWaitingForLocks(yield* client(url), 2)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(locking)
      yield* Effect.promise(() => waitUntil(() => unresolved() === 0))
      assert.deepStrictEqual(yield* readMovements(before, key), chargedAndRefunded)
    }).pipe(Effect.scoped)
  )

  it.live("is charged when the database is back in time, if it never reached the database", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, proxy } = yield* openBehindProxy()
      proxy.cut()
      const charged = held.commit("req_1")
      setTimeout(proxy.repair, 500)
      assert.strictEqual(yield* Effect.promise(() => charged), "charged")
      assert.deepStrictEqual(yield* readMovements(observer, key), chargedAndRefunded.slice(0, 2))
      yield* Effect.promise(async () => (await admit(ledger, key, 4_900)).release())
    }).pipe(Effect.scoped)
  )
})
