/** Keys that expire, in both stores: an expired key is unknown, even to a call that looked it up before. */
import { assert, describe, it } from "@effect/vitest"
import { type Administration, type LedgerAccess, timestampOf } from "@larder/serve/ledger"
import { Effect } from "effect"
import {
  admit,
  callWithView,
  database,
  endpoint,
  hold,
  newLedgers,
  october,
  open,
  readBalance,
  readEntries,
  tryCall
} from "./shared-ledger.ts"

const end = Date.parse("2100-01-31T00:00:00.000Z")
const expires_at = timestampOf(end)

const makeExpiringKey = Effect.fnUntraced(function* (administration: Administration["Service"]) {
  const { id } = yield* administration.createAccount({ name: "A" })
  const settings = { name: "k", scopes: ["get-store"], budget_credits: 1_000, expires_at } as const
  return yield* administration.createKey({ account_id: id, ...settings })
})

describe.each(Object.entries(newLedgers))("a key that expires in %s", (_, newLedger) => {
  it.live("is unknown once it has expired, and was charged for earlier calls", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const key = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const key = yield* makeExpiringKey(ledger.administration)
        assert.strictEqual(key.expires_at, expires_at)
        yield* Effect.promise(async () => {
          await (await admit(ledger, key, 100, end - 1)).capture("req_1")
          assert.strictEqual(await hold(ledger, key, 100, end), "unknown")
          assert.strictEqual(await hold(ledger, key, 100, end + 1), "unknown")
        })
        assert.strictEqual(yield* readBalance(ledger, key), 4_900)
        return key
      }).pipe(Effect.scoped)
      const reopened = yield* opening
      yield* Effect.promise(async () => {
        ;(await admit(reopened, key, 100, end - 1)).release()
        assert.strictEqual(await hold(reopened, key, 100, end), "unknown")
      })
      assert.strictEqual((yield* readEntries(reopened, key)).length, 2)
      assert.strictEqual((yield* reopened.administration.listKeys(key))[0]?.expires_at, expires_at)
      assert.deepStrictEqual((yield* reopened.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("admits no call after its expiry, even if the key was looked up before", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const key = yield* makeExpiringKey(ledger.administration)
      yield* Effect.promise(async () => {
        const view = await ledger.authenticate(key.key, end - 1)
        assert.isDefined(view)
        // after the first call, a ledger in PostgreSQL may decide by what it has read
        for (let call = 0; call < 6; call++) {
          assert.isTrue(await ledger.isCurrent(view, end - 1))
          assert.isFalse(await ledger.isCurrent(view, end))
          assert.deepStrictEqual(await ledger.hold(view, { endpoint, scope: "get-store", credits: 100 }, end), {
            refused: "key_changed"
          })
          ;(await admit(ledger, key, 100, end - 1)).release()
        }
      })
      assert.strictEqual(yield* readBalance(ledger, key), 5_000)
    }).pipe(Effect.scoped)
  )

  it.live("has its edited expiry from the next call on", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const key = yield* makeExpiringKey(administration)
      const callAt = (now: number) => Effect.promise(() => tryCall(ledger, key, now))
      assert.strictEqual(yield* callAt(end), "unknown")
      const extended = timestampOf(end + 1_000)
      assert.strictEqual((yield* administration.editKey({ key_id: key.id, expires_at: extended })).expires_at, extended)
      assert.deepStrictEqual([yield* callAt(end), yield* callAt(end + 1_000)], ["held", "unknown"])
      assert.strictEqual((yield* administration.editKey({ key_id: key.id, name: "renamed" })).expires_at, extended)
      assert.isNull((yield* administration.editKey({ key_id: key.id, expires_at: null })).expires_at)
      assert.strictEqual(yield* callAt(end + 1_000), "held")
      yield* administration.editKey({ key_id: key.id, expires_at })
      assert.deepStrictEqual([yield* callAt(end - 1), yield* callAt(end)], ["held", "unknown"])
    }).pipe(Effect.scoped)
  )

  it.live("cannot be created or edited with an expiry that has passed", () =>
    Effect.gen(function* () {
      const { administration } = yield* yield* newLedger
      const key = yield* makeExpiringKey(administration)
      const pastExpiry = { expires_at: timestampOf(october - 1) }
      const settings = { account_id: key.account_id, name: "k", scopes: ["get-store"], budget_credits: 1 } as const
      for (const refused of [
        yield* Effect.flip(administration.createKey({ ...settings, ...pastExpiry })),
        yield* Effect.flip(administration.editKey({ key_id: key.id, ...pastExpiry }))
      ]) {
        assert.strictEqual(refused._tag, "ExpiryPassed")
      }
      const [listed, ...others] = yield* administration.listKeys(key)
      assert.deepStrictEqual([listed?.expires_at, others.length], [expires_at, 0])
    }).pipe(Effect.scoped)
  )
})

describe("a key that expires, called on two servers", () => {
  it.live("expires on both when its expiry is edited on one of them", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = [yield* open(url), yield* open(url)]
      const key = yield* makeExpiringKey(one.administration)
      const callOn = (ledger: LedgerAccess, now: number) => Effect.promise(() => tryCall(ledger, key, now))
      assert.deepStrictEqual([yield* callOn(one, end - 1), yield* callOn(other, end - 1)], ["held", "held"])
      const view = yield* Effect.promise(() => other.authenticate(key.key, october))
      yield* one.administration.editKey({ key_id: key.id, expires_at: timestampOf(end - 10) })
      assert.isDefined(view)
      assert.strictEqual(yield* Effect.promise(() => callWithView(other, view, end - 1)), "unknown_key")
      assert.deepStrictEqual([yield* callOn(one, end - 1), yield* callOn(other, end - 1)], ["unknown", "unknown"])
      yield* other.administration.editKey({ key_id: key.id, expires_at: null })
      assert.deepStrictEqual([yield* callOn(one, end), yield* callOn(other, end)], ["held", "held"])
    }).pipe(Effect.scoped)
  )
})
