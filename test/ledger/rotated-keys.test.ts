/** Keys whose secret was replaced, in both stores: for a while, one key has two secrets and one budget. */
import { assert, describe, it } from "@effect/vitest"
import { type Administration, timestampOf } from "@larder/serve/ledger"
import { Clock, Effect } from "effect"
import { admit, callWithView, database, makeKey, newLedgers, open, readEntries, tryCall } from "./shared-ledger.ts"
import { runAtTestTime } from "./test-time.ts"

const hour = 3_600_000
const rotate = (administration: Administration["Service"], key_id: string, overlap_hours: number) =>
  administration.rotateKey({ key_id, overlap_hours })

describe.each(Object.entries(newLedgers))("a key that is rotated in %s", (_, newLedger) => {
  it.live("works with both secrets until the overlap ends, and only with the new one afterwards", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const { former, now, rotated } = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const former = yield* makeKey(ledger)
        const now = yield* Clock.currentTimeMillis
        const rotated = yield* rotate(ledger.administration, former.id, 24)
        assert.notStrictEqual(rotated.key, former.key)
        assert.deepStrictEqual([rotated.id, rotated.former_last4], [former.id, former.last4])
        const end = Date.parse(rotated.former_expires_at ?? "")
        assert.isTrue(end >= now + 24 * hour && end < now + 25 * hour)
        for (const key of [former, rotated]) {
          assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, key, end - 1)), "held")
        }
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, former, end)), "unknown")
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, rotated, end)), "held")
        return { former, now, rotated }
      }).pipe(Effect.scoped)
      const reopened = yield* opening
      const calls = [former, rotated].flatMap((key) =>
        [now + 23 * hour, now + 25 * hour].map((at) => tryCall(reopened, key, at))
      )
      assert.deepStrictEqual(yield* Effect.promise(() => Promise.all(calls)), ["held", "unknown", "held", "held"])
      assert.deepStrictEqual((yield* reopened.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("has one id, one budget and one bill for both secrets", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const former = yield* makeKey(ledger, 100)
      const rotated = yield* rotate(administration, former.id, 1)
      const now = yield* Clock.currentTimeMillis
      yield* Effect.promise(async () => {
        await (await admit(ledger, former, 60, now)).capture(`req_former_${former.id}`)
        assert.strictEqual(await tryCall(ledger, rotated, now, 41), "monthly_spend_cap_reached")
        await (await admit(ledger, rotated, 40, now)).capture(`req_rotated_${former.id}`)
        assert.strictEqual(await tryCall(ledger, former, now, 1), "monthly_spend_cap_reached")
      })
      const charges = (yield* readEntries(ledger, former)).filter(({ type }) => type === "charge")
      assert.deepStrictEqual([...new Set(charges.map(({ key_id }) => key_id))], [former.id])
      assert.strictEqual((yield* administration.listKeys(former)).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("loses its former secret immediately without an overlap, and the oldest one when it is rotated again", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const now = yield* Clock.currentTimeMillis
      const first = yield* makeKey(ledger)
      const view = yield* Effect.promise(() => ledger.authenticate(first.key, now))
      const second = yield* rotate(administration, first.id, 0)
      assert.isNull(second.former_expires_at)
      assert.isDefined(view)
      assert.include(["key_changed", "unknown_key"], yield* Effect.promise(() => callWithView(ledger, view, now)))
      const third = yield* rotate(administration, first.id, 1)
      const fourth = yield* rotate(administration, first.id, 1)
      const outcomes = yield* Effect.forEach([first, second, third, fourth], (key) =>
        Effect.promise(() => tryCall(ledger, key, now))
      )
      assert.deepStrictEqual(outcomes, ["unknown", "unknown", "held", "held"])
    }).pipe(Effect.scoped)
  )

  it.live("is refused with both secrets once it has expired or is revoked, and cannot be rotated afterwards", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const former = yield* makeKey(ledger)
      const rotated = yield* rotate(administration, former.id, 24)
      const now = yield* Clock.currentTimeMillis
      const ended = yield* administration.editKey({ key_id: former.id, expires_at: timestampOf(now + hour) })
      assert.strictEqual(ended.former_expires_at, timestampOf(now + hour))
      for (const key of [former, rotated]) {
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, key, now)), "held")
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, key, now + hour)), "unknown")
      }
      yield* administration.revokeKey({ key_id: former.id })
      for (const key of [former, rotated]) {
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, key, now)), "unknown")
      }
      assert.strictEqual((yield* Effect.flip(rotate(administration, former.id, 1)))._tag, "KeyRevoked")
      assert.strictEqual((yield* Effect.flip(rotate(administration, "key_gone", 1)))._tag, "UnknownKey")
    }).pipe(Effect.scoped)
  )
})

describe.each(Object.entries(newLedgers))("a key that has expired in %s", (_, newLedger) => {
  it.live("cannot be rotated until it has a later expiry, because its new secret would be refused, too", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedger
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        yield* administration.editKey({ key_id: key.id, expires_at: timestampOf((yield* now) + hour) })
        yield* pass(hour)
        const refused = yield* Effect.flip(rotate(administration, key.id, 1))
        assert.strictEqual(refused._tag, "KeyExpired")
        yield* administration.editKey({ key_id: key.id, expires_at: null })
        assert.strictEqual((yield* rotate(administration, key.id, 1)).former_last4, key.last4)
      }).pipe(Effect.scoped)
    )
  )
})

describe("a key that is rotated, called on two servers", () => {
  it.live("loses its former secret on both from the next call on", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = [yield* open(url), yield* open(url)]
      const former = yield* makeKey(one)
      const now = yield* Clock.currentTimeMillis
      for (const ledger of [one, other]) {
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, former, now)), "held")
      }
      const rotated = yield* rotate(other.administration, former.id, 0)
      for (const ledger of [one, other]) {
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, former, now)), "unknown")
        assert.strictEqual(yield* Effect.promise(() => tryCall(ledger, rotated, now)), "held")
      }
    }).pipe(Effect.scoped)
  )
})
