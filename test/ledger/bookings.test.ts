/** Bookings of money, in both stores: each is booked once, and refunds and disputes can make a balance negative. */
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { LedgerAccess } from "@larder/serve/ledger"
import type { Booking } from "@larder/serve/ledger/administration.ts"
import { entryTypes } from "@larder/serve/ledger/chain/records.ts"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { maxCredits } from "@larder/serve/ledger/rules/decisions.ts"
import { Effect, Stream } from "effect"
import { admit, folder, hold, makeKey, newLedgers, october, readEntries } from "./shared-ledger.ts"

const aTopUp = (account_id: string, booking: Partial<Booking> = {}): Booking => ({
  account_id,
  type: "top_up",
  credits: 50_000,
  reference: "pay_1",
  note: "paid by card",
  ...booking
})

const pay = (ledger: LedgerAccess, key: Parameters<typeof admit>[1], ...ids: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    for (const id of ids) await (await admit(ledger, key, 100)).capture(id)
  })

describe.each(Object.entries(newLedgers))("a ledger in %s", (name, newLedger) => {
  it.live(
    "refuses a booking that takes a balance beyond its bounds, in either direction, and can be read afterwards",
    () =>
      Effect.gen(function* () {
        const opened = yield* newLedger
        const ledger = yield* opened
        const { account_id } = yield* makeKey(ledger)
        const { administration } = ledger
        const note = "the maximum"
        const left = maxCredits - 5_000
        const credited = yield* administration.creditAccount({ account_id, credits: left, note })
        assert.strictEqual(credited.balance_credits, maxCredits)
        const refusals = [
          yield* Effect.flip(administration.creditAccount({ account_id, credits: 1, note })),
          yield* Effect.flip(administration.book(aTopUp(account_id, { credits: 1 })))
        ]
        for (const refused of refusals) {
          assert.strictEqual(refused._tag, "BalanceOutOfBounds")
          assert.match(refused.message, /is 9000000000000000 credits, and 1 more would exceed .+ Nothing was booked\./)
        }
        const refund = (credits: number, reference: string) =>
          administration.book(aTopUp(account_id, { type: "refund", credits, reference }))
        yield* refund(-maxCredits, "ref_1")
        yield* refund(-maxCredits, "ref_2")
        assert.strictEqual((yield* Effect.flip(refund(-1, "ref_3")))._tag, "BalanceOutOfBounds")
        assert.deepStrictEqual((yield* administration.verify({})).problems, [])
        const [first] = (yield* administration.listAccounts({})).map(({ balance_credits }) => balance_credits)
        assert.strictEqual(first, -maxCredits)
      }).pipe(Effect.scoped)
  )

  it.live("books a payment once, even if it is reported twice, and returns whether it was booked", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const key = yield* makeKey(ledger)
      const { administration } = ledger
      const booking = aTopUp(key.account_id)
      assert.deepStrictEqual(yield* administration.book(booking), { booked: true, balance_credits: 55_000 })
      assert.deepStrictEqual(yield* administration.book(booking), { booked: false, balance_credits: 55_000 })
      const other = { ...booking, credits: 1, note: "another one" }
      assert.deepStrictEqual(yield* administration.book(other), { booked: false, balance_credits: 55_000 })
      const recharge = aTopUp(key.account_id, { type: "auto_recharge", credits: 10_000 })
      assert.deepStrictEqual(yield* administration.book(recharge), { booked: true, balance_credits: 65_000 })
      const summary = yield* administration.account({ account_id: key.account_id })
      assert.strictEqual(summary.balance_credits, 65_000)
      const [, entry, ...rest] = yield* readEntries(ledger, key)
      assert.strictEqual(rest.length, 1)
      assert.isDefined(entry)
      const { hash: _, occurred_at: __, sequence: ___, ...fields } = entry
      assert.deepStrictEqual(fields, {
        account_id: key.account_id,
        position: 2,
        type: "top_up",
        key_id: null,
        endpoint: null,
        credits: 50_000,
        balance: 55_000,
        budget_credits: null,
        request_id: "pay_1",
        note: "paid by card"
      })
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("books a payment once when it is reported 30 times concurrently", () =>
    Effect.gen(function* () {
      const { administration, ...ledger } = yield* yield* newLedger
      const key = yield* makeKey({ administration, ...ledger })
      const results = yield* Effect.all(
        Array.from({ length: 30 }, () => administration.book(aTopUp(key.account_id))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter(({ booked }) => booked).length, 1)
      assert.deepStrictEqual([...new Set(results.map(({ balance_credits }) => balance_credits))], [55_000])
    }).pipe(Effect.scoped)
  )

  it.live("books nothing twice, even after it was opened again", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const key = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const key = yield* makeKey(ledger)
        yield* ledger.administration.book(aTopUp(key.account_id))
        yield* ledger.administration.book(
          aTopUp(key.account_id, { type: "refund", credits: -50_000, reference: "re_1" })
        )
        return key
      }).pipe(Effect.scoped)
      const { administration } = yield* opening
      const unchanged = { booked: false, balance_credits: 5_000 }
      assert.deepStrictEqual(yield* administration.book(aTopUp(key.account_id)), unchanged)
      const refund = aTopUp(key.account_id, { type: "refund", credits: -50_000, reference: "re_1" })
      assert.deepStrictEqual(yield* administration.book(refund), unchanged)
    }).pipe(Effect.scoped)
  )

  it.live("refuses to book for one account what is booked for another", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const [one, other] = [yield* makeKey(ledger), yield* makeKey(ledger)]
      yield* ledger.administration.book(aTopUp(one.account_id))
      const error = yield* Effect.flip(ledger.administration.book(aTopUp(other.account_id)))
      assert.strictEqual(error._tag, "ReferenceTaken")
      assert.strictEqual(error.message, "top_up pay_1 is already booked for another account. Nothing was booked.")
      assert.strictEqual((yield* Effect.flip(ledger.administration.book(aTopUp("acct_none"))))._tag, "UnknownAccount")
      assert.strictEqual((yield* readEntries(ledger, other)).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("refuses to book an impossible amount, and a reference or a note that is not one line", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const key = yield* makeKey(ledger)
      for (const wrong of [
        { credits: 0 },
        { credits: 1.5 },
        { credits: -1 },
        { type: "auto_recharge", credits: -1 },
        { type: "refund", credits: 0 },
        { reference: "" },
        { reference: "two\nlines" },
        { note: "two\nlines" }
      ] as const) {
        const exit = yield* Effect.exit(ledger.administration.book(aTopUp(key.account_id, wrong)))
        assert.strictEqual(exit._tag, "Failure", JSON.stringify(wrong))
      }
      assert.strictEqual((yield* readEntries(ledger, key)).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("allows refunds and disputes to make the balance negative, and then refuses calls until more is paid", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const key = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const { administration } = ledger
        const key = yield* makeKey(ledger)
        const { account_id } = key
        yield* administration.book(aTopUp(account_id, { credits: 10_000 }))
        yield* pay(ledger, key, "req_1", "req_2")
        const running = yield* Effect.promise(() => admit(ledger, key, 100))
        const refund = aTopUp(account_id, { type: "refund", credits: -10_000, reference: "re_1" })
        assert.strictEqual((yield* administration.book(refund)).balance_credits, 4_800)
        const dispute = aTopUp(account_id, { type: "adjustment", credits: -5_000, reference: "dp_1" })
        assert.strictEqual((yield* administration.book(dispute)).balance_credits, -200)
        assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "insufficient_balance")
        const view = yield* Effect.promise(() => ledger.authenticate(key.key, Date.now()))
        assert.isDefined(view)
        assert.strictEqual(ledger.remaining(view, october), 0)
        // it was admitted before the refund; a ledger that servers share decides again
        const isShared = name === "PostgreSQL"
        const outcome = yield* Effect.promise(() => running.capture("req_3"))
        assert.strictEqual(outcome, isShared ? "insufficient_balance" : "charged")
        const balance_credits = isShared ? -200 : -300
        assert.strictEqual((yield* administration.account({ account_id })).balance_credits, balance_credits)
        assert.deepStrictEqual(yield* administration.verify({}), {
          accounts: 1,
          keys: 1,
          entries: isShared ? 6 : 7,
          balance_credits,
          problems: []
        })
        return key
      }).pipe(Effect.scoped)
      const ledger = yield* opening
      const { administration } = ledger
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "insufficient_balance")
      const won = aTopUp(key.account_id, { type: "adjustment", credits: 5_000, reference: "dp_1:won" })
      const balance_credits = name === "PostgreSQL" ? 4_800 : 4_700
      assert.deepStrictEqual(yield* administration.book(won), { booked: true, balance_credits })
      yield* pay(ledger, key, "req_4")
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("can be backed up, restored and used again with a negative balance", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { account_id } = yield* makeKey(ledger)
      yield* ledger.administration.book(aTopUp(account_id, { type: "refund", credits: -6_000, reference: "re_1" }))
      const home = yield* folder
      yield* ledger.administration.backup({ file: path.join(home, "ledger.sqlite") })
      const restored = yield* openEmbeddedLedger(home)
      const refund = aTopUp(account_id, { type: "refund", credits: -6_000, reference: "re_1" })
      const repeated = yield* restored.administration.book(refund)
      assert.deepStrictEqual(repeated, { booked: false, balance_credits: -1_000 })
      yield* restored.administration.book(aTopUp(account_id, { credits: 10_000 }))
      assert.deepStrictEqual((yield* restored.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})

describe.each(Object.entries(newLedgers))("a page of a statement in %s", (_, newLedger) => {
  /** A grant, then ten times a payment and three calls, between charges of another account. */
  const createHistory = Effect.fnUntraced(function* (ledger: LedgerAccess) {
    const [key, other] = [yield* makeKey(ledger), yield* makeKey(ledger)]
    for (let round = 0; round < 10; round++) {
      const credits = 1_000
      yield* ledger.administration.book(aTopUp(key.account_id, { credits, reference: `pay_${round}` }))
      yield* pay(ledger, other, `other ${round}`)
      yield* pay(ledger, key, `req_${round}a`, `req_${round}b`, `req_${round}c`)
    }
    return key
  })

  it.live("has the newest entries before a position, of some types or of all", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const check = Effect.fnUntraced(function* (ledger: LedgerAccess, account_id: string) {
        const entries = (yield* Stream.runCollect(ledger.administration.entriesOf(account_id))).toReversed()
        assert.strictEqual(entries.length, 41)
        const query = (before: number | null, limit: number, types?: ReadonlyArray<(typeof entryTypes)[number]>) =>
          ledger.administration.entriesBefore({ account_id, before, limit, types })
        assert.deepStrictEqual(yield* query(null, 1_000), entries)
        assert.deepStrictEqual(yield* query(null, 5), entries.slice(0, 5))
        assert.deepStrictEqual(yield* query(38, 5), entries.slice(4, 9))
        assert.deepStrictEqual(yield* query(3, 5), entries.slice(-2))
        assert.deepStrictEqual(yield* query(1, 5), [])
        assert.deepStrictEqual(yield* query(-7, 5), [])
        assert.deepStrictEqual(yield* query(10_000, 2), entries.slice(0, 2))
        assert.deepStrictEqual(yield* query(null, 5, []), [])
        assert.deepStrictEqual(yield* query(null, 5, ["refund"]), [])
        assert.deepStrictEqual(yield* query(null, 41, [...entryTypes]), entries)
        const topUps = entries.filter(({ type }) => type === "top_up")
        assert.deepStrictEqual(yield* query(null, 3, ["top_up"]), topUps.slice(0, 3))
        assert.deepStrictEqual(yield* query(topUps[2]?.position ?? 0, 3, ["top_up", "refund"]), topUps.slice(3, 6))
        const calls = entries.filter(({ type }) => type === "charge" || type === "grant")
        assert.deepStrictEqual(yield* query(null, 1_000, ["charge", "grant"]), calls)
        assert.deepStrictEqual(yield* query(39, 7, ["charge", "grant"]), calls.slice(3, 10))
      })
      const account_id = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const { account_id } = yield* createHistory(ledger)
        yield* check(ledger, account_id)
        return account_id
      }).pipe(Effect.scoped)
      yield* check(yield* opening, account_id)
    }).pipe(Effect.scoped)
  )

  it.live("shows what was charged a moment ago before the older entries", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const key = yield* Effect.scoped(Effect.flatMap(opening, createHistory))
      const { account_id } = key
      const ledger = yield* opening
      const { administration } = ledger
      const before = yield* administration.entriesBefore({ account_id, before: null, limit: 1_000 })
      yield* pay(ledger, key, "req_new")
      yield* administration.editKey({ key_id: key.id, name: `"account_id":"${account_id}"` })
      const note = `{"account_id":"${account_id}","type":"charge"} — ünïcödé 🧀`
      yield* administration.creditAccount({ account_id, credits: 1, note })
      const page = yield* administration.entriesBefore({ account_id, before: null, limit: 1_000 })
      assert.deepStrictEqual(page.slice(2), before)
      assert.deepStrictEqual(
        page.slice(0, 2).map(({ note, position, request_id }) => ({ note, position, request_id })),
        [
          { note, position: 43, request_id: null },
          { note: null, position: 42, request_id: "req_new" }
        ]
      )
      const types = ["top_up" as const]
      const [topUp] = yield* administration.entriesBefore({ account_id, before: null, limit: 1, types })
      assert.strictEqual(topUp?.request_id, "pay_9")
    }).pipe(Effect.scoped)
  )

  it.live("fails for an account that does not exist", () =>
    Effect.gen(function* () {
      const { administration } = yield* yield* newLedger
      const page = { account_id: "acct_none", before: null, limit: 1 }
      assert.strictEqual((yield* Effect.flip(administration.entriesBefore(page)))._tag, "UnknownAccount")
      assert.strictEqual((yield* Effect.flip(administration.account(page)))._tag, "UnknownAccount")
    }).pipe(Effect.scoped)
  )
})
