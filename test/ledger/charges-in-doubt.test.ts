/** Charges whose response is lost, so that it is unknown whether they were charged. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type LedgerAccess, LedgerUnavailable } from "@larder/serve/ledger"
import { openInDoubtFiles } from "@larder/serve/ledger/postgres/in-doubt/in-doubt-files.ts"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import {
  admit,
  assertNoProblems,
  assertSpendable,
  catchError,
  charge,
  client,
  database,
  endpoint,
  hold,
  inDoubtFolder,
  type Key,
  lockAccount,
  makeKey,
  october,
  open,
  openWithLog,
  proxyTo,
  readBalance,
  readEntries,
  waitUntil
} from "./shared-ledger.ts"

describe("a charge whose response is lost", () => {
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
    yield* charge(ledger, key, "req_0", 1)
  })

  const openBehindProxy = Effect.fnUntraced(function* () {
    const url = yield* database
    const proxy = yield* proxyTo(url)
    const ledger = yield* open(proxy.url)
    yield* connectForCharges(ledger)
    const key = yield* makeKey(ledger)
    const held = yield* Effect.promise(() => admit(ledger, key, 100))
    return { proxy, ledger, key, held, observer: yield* open(url) }
  })

  /** A server that can be stopped, and is asking whether its call is charged. */
  const openWithOwnFolder = Effect.gen(function* () {
    const url = yield* database
    const ownFolder = mkdtempSync(path.join(inDoubtFolder, "own-"))
    const proxy = yield* proxyTo(url)
    const scope = yield* Scope.make()
    const { ledger, logged } = yield* Scope.provide(openWithLog(proxy.url, ownFolder), scope)
    yield* connectForCharges(ledger)
    const key = yield* makeKey(ledger)
    const held = yield* Effect.promise(() => admit(ledger, key, 100))
    proxy.loseCommitResponse()
    const error = catchError(held.capture("req_1"))
    yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
    return { url, ownFolder, key, logged, error, stop: Scope.close(scope, Exit.void) }
  })

  it.live("is found to be charged, once, when the database is back in time", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, proxy } = yield* openBehindProxy()
      proxy.loseCommitResponse()
      const charged = held.capture("req_1")
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
      yield* assertSpendable(ledger, key, 4_900)
    }).pipe(Effect.scoped)
  )

  it.live("is deducted from the credits that the response shows, when it is found to be charged", () =>
    Effect.gen(function* () {
      const { held, key, ledger, proxy } = yield* openBehindProxy()
      held.release()
      const { charging, view } = yield* Effect.promise(async () => {
        const view = await ledger.authenticate(key.key, october)
        assert.isDefined(view)
        const admission = await ledger.hold(view, { endpoint, scope: "get-store", credits: 100 }, october)
        assert.property(admission, "held")
        proxy.loseCommitResponse()
        return { charging: "held" in admission && admission.held.capture("req_1"), view }
      })
      yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
      proxy.repair()
      assert.strictEqual(yield* Effect.promise(async () => charging), "charged")
      assert.strictEqual(ledger.remaining(view, october), 4_900)
    }).pipe(Effect.scoped)
  )

  it.live("fails when the database stays away, and is refunded when it returns", () =>
    Effect.gen(function* () {
      const { held, key, observer, proxy } = yield* openBehindProxy()
      proxy.loseCommitResponse()
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => held.capture("req_1"), catch: (cause) => cause }))
      assert.instanceOf(error, LedgerUnavailable)
      assert.strictEqual(yield* readBalance(observer, key), 4_900) // it is still unknown whether it is charged
      proxy.repair()
      yield* waitUntilRefunded(observer, key)
      assert.deepStrictEqual(yield* readMovements(observer, key), chargedAndRefunded)
    }).pipe(Effect.scoped)
  )

  it.live("is refunded by the next server when this one stops before the database returns", () =>
    Effect.gen(function* () {
      const { error, key, ownFolder, stop, url } = yield* openWithOwnFolder
      yield* stop // although the database is away
      assert.match(String(yield* Effect.promise(() => error)), /if the call was charged, it is refunded/)

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

  it.live(
    "is logged with its account when the server stops, and can neither ask the database nor record the call",
    () =>
      Effect.gen(function* () {
        const { error, key, logged, ownFolder, stop } = yield* openWithOwnFolder
        rmSync(path.join(ownFolder, "in-doubt"), { recursive: true })
        writeFileSync(path.join(ownFolder, "in-doubt"), "no folder")
        yield* stop
        assert.instanceOf(yield* Effect.promise(() => error), LedgerUnavailable)
        const lines = logged.filter((line) => line.includes(`req_1 of account ${key.account_id}`))
        assert.strictEqual(lines.length, 1)
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
      yield* charge(before, stuck, "req_stuck")
      yield* charge(before, other, "req_1")
      const { directory, unresolved } = storeInDoubt([
        ["req_stuck", stuck],
        ["req_1", other],
        ["req_never_charged", other]
      ])
      const release = yield* Deferred.make<void>()
      const locking = yield* lockAccount(url, stuck.account_id, Deferred.await(release))

      const startedAt = performance.now()
      const ledger = yield* open(url, directory)
      yield* charge(ledger, served, "req_served")
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
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )

  it.live("is refunded once by two servers that find the same file", () =>
    Effect.gen(function* () {
      const url = yield* database
      const before = yield* open(url)
      const key = yield* makeKey(before)
      yield* charge(before, key, "req_1")
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
      const charged = held.capture("req_1")
      setTimeout(proxy.repair, 500)
      assert.strictEqual(yield* Effect.promise(() => charged), "charged")
      assert.deepStrictEqual(yield* readMovements(observer, key), chargedAndRefunded.slice(0, 2))
      yield* assertSpendable(ledger, key, 4_900)
    }).pipe(Effect.scoped)
  )
})
