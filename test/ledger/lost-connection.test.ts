/** An operator's change whose connection to the database is lost while it runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { startFaultyProxy } from "./faulty-proxy.ts"
import { client, database, makeKey, open, readEntries, waitUntil } from "./shared-ledger.ts"

describe("a booking whose connection is lost half-way", () => {
  it.live("fails like in an outage, writes nothing, and is booked when it is repeated", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => startFaultyProxy(url)),
        ({ close }) => Effect.promise(close)
      )
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
