/** Accounts that are locked in PostgreSQL for longer than one group waits, for example by servers on a slow disk. */
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { Effect, Fiber } from "effect"
import {
  admit,
  catchError,
  charge,
  client,
  database,
  lock,
  lockAccount,
  lockRow,
  makeKey,
  open,
  openWithClock,
  proxyTo,
  readEntries,
  untilTriedAlone,
  waitUntil
} from "./shared-ledger.ts"

/** A group waits for a second. */
const lockDuration = "1500 millis"

/** Runs `work` while another session has locked the account. */
const whileLocked = Effect.fnUntraced(function* <A, E, R>(
  url: string,
  accountId: string,
  work: Effect.Effect<A, E, R>
) {
  const locking = yield* lockAccount(url, accountId, Effect.sleep(lockDuration))
  const result = yield* work
  yield* Fiber.join(locking)
  return result
})

describe("one locked account among many in a group", () => {
  it.live("is found with few transactions, and the calls of the others are charged", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const keys = yield* Effect.all(Array.from({ length: 64 }, () => makeKey(ledger)))
      const holds = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
      const free = yield* lock(url, "select from ledger.account where id = $1 for update", [keys[20]?.account_id ?? ""])
      const charging = holds.map((held, call) => held.capture(`req_${call}`))
      const others = charging.filter((_, call) => call !== 20)
      for (const outcome of yield* Effect.promise(() => Promise.all(others))) assert.strictEqual(outcome, "charged")
      assert.isAtMost(ledger.counters.groups, 12) // three halves, and seven accounts that were tried with the locked one
      yield* free
      assert.strictEqual(yield* Effect.promise(async () => charging[20]), "charged")
    }).pipe(Effect.scoped)
  )
})

describe("an account that is locked for 1.5 seconds", () => {
  it.live("delays its calls, which are then held and charged", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const [busy, other] = yield* Effect.all([makeKey(ledger), makeKey(ledger)])
      const before = yield* Effect.promise(() => admit(ledger, busy, 100))
      yield* whileLocked(
        url,
        busy.account_id,
        Effect.promise(() =>
          Promise.all([
            before.capture("req_before"),
            admit(ledger, busy, 100).then((held) => held.capture("req_busy")),
            admit(ledger, other, 100).then((held) => held.capture("req_other"))
          ])
        )
      )
      assert.strictEqual((yield* readEntries(ledger, busy)).length, 3)
      assert.strictEqual((yield* readEntries(ledger, other)).length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("delays its calls, even after another account was locked and the connection was lost", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const [first, second] = yield* Effect.all([makeKey(ledger), makeKey(ledger)])
      const sql = yield* client(url)
      yield* whileLocked(
        url,
        first.account_id,
        Effect.gen(function* () {
          const waiting = yield* Effect.promise(() => admit(ledger, first, 100)).pipe(Effect.exit, Effect.forkChild)
          yield* Effect.sleep("1200 millis") // one group has given up, the next one waits
          yield* sql`select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and query like '%for no key update%' and pid <> pg_backend_pid()`
          yield* Fiber.join(waiting)
        })
      )
      yield* Effect.promise(() => waitUntil(ledger.writable))
      yield* whileLocked(
        url,
        second.account_id,
        Effect.promise(async () => (await admit(ledger, second, 100)).capture("req_second"))
      )
      assert.strictEqual((yield* readEntries(ledger, second)).length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("is not refused any more after an outage in which its calls have waited for too long", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* proxyTo(url)
      const { ledger, pass } = yield* openWithClock(proxy.url)
      const key = yield* makeKey(ledger)
      const sql = yield* client(url)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const free = yield* lock(url, lockRow, [key.account_id])
      const outcome = catchError(held.capture("req_1"))
      yield* untilTriedAlone(sql)
      proxy.cut()
      yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
      pass(5_000)
      assert.instanceOf(yield* Effect.promise(() => outcome), LedgerUnavailable)
      yield* free
      proxy.repair()
      yield* Effect.promise(() => waitUntil(ledger.writable))
      assert.strictEqual(yield* charge(ledger, key, "req_2"), "charged")
    }).pipe(Effect.scoped)
  )
})
