/** Lookups of keys for which the database takes too long, while it responds to everything else. */
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { Effect } from "effect"
import { admit, catchError, database, hold, lock, makeKey, october, open, openWithLog } from "./shared-ledger.ts"

const lockKeys = "lock table ledger.api_key in access exclusive mode"

describe("a table of keys that another session has locked", () => {
  it.live("makes lookups fail, and the database does not count as lost", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, logged } = yield* openWithLog(url)
      const key = yield* makeKey(ledger)
      const free = yield* lock(url, lockKeys)
      assert.instanceOf(yield* Effect.promise(() => catchError(hold(ledger, key, 100))), LedgerUnavailable)
      assert.isTrue(ledger.writable())
      yield* free
      assert.strictEqual(yield* Effect.promise(async () => (await admit(ledger, key, 100)).capture("req_1")), "charged")
      assert.deepStrictEqual(
        logged.filter((line) => line.includes("until it is back")),
        []
      )
    }).pipe(Effect.scoped)
  )

  it.live("does not delay the refusal of a key with a wrong checksum", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const free = yield* lock(url, lockKeys)
      const invented = `svc_data_${"x".repeat(64)}`
      assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(invented, october)))
      yield* free
    }).pipe(Effect.scoped)
  )
})
