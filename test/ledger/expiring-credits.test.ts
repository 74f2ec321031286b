/** Credits that expire, in both stores: the earliest expiry is spent first, and the unspent rest is removed at expiry. */
import { assert, describe, it } from "@effect/vitest"
import { reachLedger } from "@larder/serve/cli"
import { type Administration, type LedgerAccess, timestampOf } from "@larder/serve/ledger"
import { Deferred, Effect, Fiber } from "effect"
import {
  admit,
  database,
  folder,
  hold,
  type Key,
  lockAccount,
  makeKey,
  newLedgers,
  open,
  readBalance,
  readEntries,
  refundCharge
} from "./shared-ledger.ts"
import { runAtTestTime, start } from "./test-time.ts"

const hour = 3_600_000
const grant = Effect.fnUntraced(function* (
  administration: Administration["Service"],
  { account_id }: Key,
  credits: number,
  expires: number
) {
  return yield* administration.creditAccount({ account_id, credits, note: "offer", expires_at: timestampOf(expires) })
})

let requests = 0
const charge = async (ledger: LedgerAccess, key: Key, credits: number, now: number) => {
  await (await admit(ledger, key, credits, now)).commit(`req_credits_${process.pid}_${requests++}`)
}
const readBill = (ledger: LedgerAccess, key: Key) =>
  Effect.map(readEntries(ledger, key), (entries) =>
    entries.map(({ balance, credits, grants, type }) => [type, credits, balance, grants])
  )

describe.each(Object.entries(newLedgers))("credits that expire in %s", (_, newLedger) => {
  it.live("are spent before others, the earliest expiry first, and an adjustment removes the rest", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedger
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        const laterExpiry = start + 5 * hour
        const earlierExpiry = start + 2 * hour
        yield* grant(administration, key, 100, laterExpiry)
        const summary = yield* grant(administration, key, 50, earlierExpiry)
        assert.strictEqual(summary.balance_credits, 5_150)
        assert.deepStrictEqual(summary.expiring, [
          { credits: 50, expires_at: timestampOf(earlierExpiry) },
          { credits: 100, expires_at: timestampOf(laterExpiry) }
        ])
        const first = yield* now
        yield* Effect.promise(() => charge(ledger, key, 30, first))
        yield* Effect.promise(() => charge(ledger, key, 30, first))
        yield* pass(2 * hour)
        const second = yield* now
        yield* Effect.promise(() => charge(ledger, key, 40, second))
        yield* pass(4 * hour)
        assert.strictEqual(yield* readBalance(ledger, key), 5_000)
        assert.deepStrictEqual((yield* administration.account(key)).expiring, [])
        const entries = yield* readEntries(ledger, key)
        assert.deepStrictEqual(entries.at(-1)?.occurred_at, timestampOf(laterExpiry))
        assert.match(entries.at(-1)?.note ?? "", /^left of entry 2 /)
        assert.deepStrictEqual(yield* readBill(ledger, key), [
          ["grant", 5_000, 5_000, null],
          ["adjustment", 100, 5_100, null],
          ["adjustment", 50, 5_150, null],
          ["charge", -30, 5_120, "3:-30"],
          ["charge", -30, 5_090, "3:-20 2:-10"],
          ["charge", -40, 5_050, "2:-40"],
          ["adjustment", -50, 5_000, "2:-50"]
        ])
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )

  it.live("can be spent if they were granted after the clock was set back", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedger
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        yield* Effect.promise(() => charge(ledger, key, 5_000, start))
        yield* grant(administration, key, 100, start + 3 * hour)
        yield* pass(10 * hour)
        assert.strictEqual(yield* readBalance(ledger, key), 0)
        yield* pass(-9 * hour)
        yield* grant(administration, key, 50, start + 2 * hour)
        const corrected = yield* now
        yield* Effect.promise(() => charge(ledger, key, 50, corrected))
        assert.strictEqual(yield* readBalance(ledger, key), 0)
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )

  it.live("are unchanged after a restart, and cannot be spent once they have expired", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const opening = yield* newLedger
        const key = yield* Effect.gen(function* () {
          const ledger = yield* opening
          const key = yield* makeKey(ledger)
          yield* grant(ledger.administration, key, 100, start + hour)
          const calledAt = yield* now
          yield* Effect.promise(() => charge(ledger, key, 30, calledAt))
          return key
        }).pipe(Effect.scoped)
        const reopened = yield* opening
        const end = start + hour
        assert.strictEqual((yield* reopened.administration.account(key)).expiring[0]?.credits, 70)
        yield* Effect.promise(async () => {
          assert.strictEqual(await hold(reopened, key, 5_071, end - 1), "insufficient_balance")
          ;(await admit(reopened, key, 5_070, end - 1)).release()
          assert.strictEqual(await hold(reopened, key, 5_001, end), "insufficient_balance")
          ;(await admit(reopened, key, 5_000, end)).release()
        })
        yield* pass(hour)
        assert.strictEqual(yield* readBalance(reopened, key), 5_000)
        assert.deepStrictEqual((yield* reopened.administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )

  it.live("stay held by a call that took them before they expired, and expire when it is released later", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedger
        const key = yield* makeKey(ledger)
        yield* grant(ledger.administration, key, 100, start + hour)
        const calledAt = yield* now
        const [committed, released] = yield* Effect.promise(() =>
          Promise.all([admit(ledger, key, 40, calledAt), admit(ledger, key, 40, calledAt)])
        )
        yield* pass(hour)
        assert.strictEqual(yield* readBalance(ledger, key), 5_080)
        yield* Effect.promise(() => committed.commit(`req_committed_${process.pid}_${requests++}`))
        released.release()
        const after = yield* now
        assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 5_001, after)), "insufficient_balance")
        yield* Effect.promise(async () => (await admit(ledger, key, 5_000, after)).release())
        let balance = yield* readBalance(ledger, key)
        while (balance !== 5_000) balance = yield* readBalance(ledger, key)
        assert.deepStrictEqual(
          (yield* readBill(ledger, key)).slice(2).toSorted((a, b) => Number(b[1]) - Number(a[1])),
          [
            ["adjustment", -20, 5_080, "2:-20"],
            ["charge", -40, 5_040, "2:-40"],
            ["adjustment", -40, 5_000, "2:-40"]
          ].toSorted((a, b) => Number(b[1]) - Number(a[1]))
        )
        assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )

  it.live("are removed completely after a refund of spent money: the balance is below 0 until more is paid", () =>
    runAtTestTime(({ pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedger
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        const { account_id } = key
        yield* grant(administration, key, 100, start + hour)
        yield* administration.book({
          account_id,
          type: "refund",
          credits: -5_070,
          reference: `re_${key.id}`,
          note: "x"
        })
        assert.strictEqual(yield* readBalance(ledger, key), 30)
        yield* pass(hour)
        assert.strictEqual(yield* readBalance(ledger, key), -70)
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
        const expired = { account_id, credits: 1, note: "x", expires_at: timestampOf(start) }
        const refused = yield* Effect.flip(administration.creditAccount(expired))
        assert.match(refused.message, /^Credits cannot be made to expire at 2100-01-01/)
        yield* administration.book({
          account_id,
          type: "top_up",
          credits: 1_000,
          reference: `pay_${key.id}`,
          note: "x"
        })
        assert.strictEqual(yield* readBalance(ledger, key), 930)
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )
})

describe("credits that expire in a folder while they are being removed", () => {
  it.live("are not spent by a call with an earlier time, and other charges of the group are written", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const ledger = yield* yield* newLedgers["a folder"]
        const { administration } = ledger
        const [key, other] = [yield* makeKey(ledger), yield* makeKey(ledger)]
        yield* grant(administration, key, 100, start + hour)
        const before = yield* now
        yield* pass(hour)
        const removal = yield* Effect.forkChild(administration.account(key))
        yield* Effect.yieldNow
        yield* Effect.promise(() =>
          Promise.all([charge(ledger, key, 100, before), charge(ledger, other, 10, before + hour)])
        )
        assert.strictEqual((yield* Fiber.join(removal)).balance_credits, 4_900)
        assert.deepStrictEqual(
          (yield* readBill(ledger, key)).slice(2).map(([type, credits, , grants]) => [type, credits, grants]),
          [
            ["adjustment", -100, "2:-100"],
            ["charge", -100, null]
          ]
        )
        assert.strictEqual(yield* readBalance(ledger, other), 4_990)
      }).pipe(Effect.scoped)
    )
  )
})

describe("credits that expire in an account that another session has locked", () => {
  it.live("delay no other account, and cannot be spent", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const url = yield* database
        const ledger = yield* open(url)
        const { administration } = ledger
        const [locked, other, third] = [yield* makeKey(ledger), yield* makeKey(ledger), yield* makeKey(ledger)]
        for (const key of [locked, other]) yield* grant(administration, key, 100, start + hour)
        const end = yield* Deferred.make<void>()
        const locking = yield* lockAccount(url, locked.account_id, Deferred.await(end))
        yield* pass(hour)
        assert.strictEqual((yield* administration.account(other)).balance_credits, 5_000)
        assert.strictEqual((yield* administration.account(third)).balance_credits, 5_000)
        assert.isUndefined(locking.pollUnsafe()) // it is still locked
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(locking)
        const calledAt = yield* now
        assert.strictEqual(yield* Effect.promise(() => hold(ledger, locked, 5_001, calledAt)), "insufficient_balance")
        assert.deepStrictEqual((yield* administration.account(locked)).expiring, [])
        assert.strictEqual(yield* readBalance(ledger, locked), 5_000)
      }).pipe(Effect.scoped)
    )
  )
})

describe("credits that expire, on two servers", () => {
  it.live("are returned when a call is refunded, and still expire at their time", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const url = yield* database
        const ledger = yield* open(url)
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        yield* grant(administration, key, 100, start + hour)
        const calledAt = yield* now
        yield* Effect.promise(async () => (await admit(ledger, key, 130, calledAt)).commit(`req_back_${key.id}`))
        assert.deepStrictEqual((yield* administration.account(key)).expiring, [])
        yield* refundCharge(url, `req_back_${key.id}`)
        assert.strictEqual((yield* administration.account(key)).expiring[0]?.credits, 100)
        yield* Effect.promise(() => charge(ledger, key, 30, calledAt))
        yield* pass(hour)
        assert.strictEqual(yield* readBalance(ledger, key), 5_000)
        assert.deepStrictEqual(
          (yield* readBill(ledger, key)).slice(2).map(([type, , , grants]) => [type, grants]),
          [
            ["charge", "2:-100"],
            ["refund", "2:100"],
            ["charge", "2:-30"],
            ["adjustment", "2:-70"]
          ]
        )
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )

  it.live("are spent once, and each server counts what calls of the other one hold", () =>
    runAtTestTime(({ now, pass }) =>
      Effect.gen(function* () {
        const url = yield* database
        const [one, other] = [yield* open(url), yield* open(url)]
        const key = yield* makeKey(one)
        yield* grant(one.administration, key, 100, start + hour)
        const calledAt = yield* now
        const held = yield* Effect.promise(() => admit(one, key, 60, calledAt))
        yield* Effect.promise(() => charge(other, key, 60, calledAt))
        yield* Effect.promise(() => held.commit(`req_here_${process.pid}_${requests++}`))
        assert.deepStrictEqual(
          (yield* readBill(other, key)).slice(2).map(([, , , grants]) => grants),
          ["2:-40", "2:-60"]
        )
        yield* pass(2 * hour)
        assert.strictEqual(yield* readBalance(other, key), 4_980)
        assert.deepStrictEqual((yield* other.administration.verify({})).problems, [])
      }).pipe(Effect.scoped)
    )
  )
})

describe("a ledger in a folder whose credits have expired since its server stopped", () => {
  it.live("is verified unchanged by a command, and updated before a balance is shown", () =>
    runAtTestTime(({ pass }) =>
      Effect.gen(function* () {
        const home = yield* folder
        const command = <A, E>(work: (administration: Administration["Service"]) => Effect.Effect<A, E>) =>
          Effect.scoped(Effect.flatMap(reachLedger(home), ({ administration }) => work(administration)))
        const account = yield* command(({ createAccount }) => createAccount({ name: "A" }))
        const offer = { account_id: account.id, credits: 100, note: "offer", expires_at: timestampOf(start + hour) }
        yield* command(({ creditAccount }) => creditAccount(offer))
        yield* pass(2 * hour)
        const verified = yield* command(({ verify }) => Effect.delay(verify({}), "20 millis"))
        assert.deepStrictEqual([verified.entries, verified.problems], [2, []])
        const [listed] = yield* command(({ listAccounts }) => listAccounts({}))
        assert.strictEqual(listed?.balance_credits, 5_000)
        assert.strictEqual((yield* command(({ verify }) => verify({}))).entries, 3)
      })
    ).pipe(Effect.scoped)
  )
})
