/** Work whose connection to the database is lost while it runs: a charge, and an operator's change. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import {
  admit,
  client,
  database,
  lock,
  makeKey,
  open,
  openWithLog,
  proxyTo,
  readBalance,
  readEntries,
  waitUntil
} from "./shared-ledger.ts"

describe("a charge whose session is ended by the database", () => {
  it.live("is charged once in another session, and the server stays ready", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, logged } = yield* openWithLog(url)
      const key = yield* makeKey(ledger)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const sql = yield* client(url)
      const free = yield* lock(url, "lock table ledger.entry in share mode") // COMMIT is sent, and waits
      const charging = held.capture("req_1")
      const endSession = sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      while ((yield* endSession).length === 0) yield* Effect.sleep("5 millis")
      yield* untilWaitingForLocks(sql)
      yield* free
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
      assert.strictEqual(yield* readBalance(ledger, key), 4_900)
      assert.strictEqual((yield* readEntries(ledger, key)).length, 2)
      assert.deepStrictEqual(logged, [])
    }).pipe(Effect.scoped)
  )
})

describe("a booking whose connection is lost half-way", () => {
  it.live("fails like in an outage, writes nothing, and is booked when it is repeated", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* proxyTo(url)
      const ledger = yield* open(proxy.url)
      const key = yield* makeKey(ledger)
      const { account_id } = key
      const booking = { account_id, type: "top_up", credits: 10_000, reference: "pay_1", note: "paid by card" } as const
      const sql = yield* client(url)
      const error = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select from ledger.account where id = ${account_id} for update`
          const failing = yield* Effect.forkChild(Effect.flip(ledger.administration.book(booking)))
          yield* untilWaitingForLocks(sql)
          proxy.cut()
          return yield* Fiber.join(failing)
        })
      )
      assert.strictEqual(error._tag, "LedgerUnavailable")
      yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
      proxy.repair()
      yield* Effect.promise(() => waitUntil(ledger.writable))
      assert.strictEqual((yield* readEntries(ledger, key)).length, 1)
      assert.isTrue((yield* ledger.administration.book(booking)).booked)
      assert.isFalse((yield* ledger.administration.book(booking)).booked)
    }).pipe(Effect.scoped)
  )
})
