/** The ledger in PostgreSQL: ledgers of this process share a database, as servers do. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { type AdministrationError, type AdmittedCall, type LedgerAccess, LedgerUnavailable } from "@larder/serve/ledger"
import type { CaptureOutcome } from "@larder/serve/ledger/ledger.ts"
import { Effect } from "effect"
import {
  admit,
  assertNoProblems,
  assertSpendable,
  catchError,
  charge,
  database,
  endpoint,
  hold,
  type Key,
  lock,
  makeKey,
  november,
  october,
  open,
  openWithClock,
  proxyTo,
  readBalance,
  readEntries
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
      yield* Effect.promise(() => Promise.all([after.capture("req_n"), before.capture("req_o")]))
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, october)), "monthly_spend_cap_reached")
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, november)), "monthly_spend_cap_reached")
      const charges = (yield* readEntries(ledger, key)).slice(1)
      assert.deepStrictEqual(charges.map(({ occurred_at, request_id }) => [request_id, occurred_at]).toSorted(), [
        ["req_n", "2026-11-01T00:00:00.000Z"],
        ["req_o", "2026-10-31T23:59:59.999Z"]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("find a key revoked as soon as the database has said so, although it was read within the last second", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([open(url), open(url)])
      const { id, key } = yield* makeKey(one)
      const find = () => Effect.promise(() => other.authenticate(key, october))
      const view = yield* find()
      if (view === undefined) throw new Error("the key was not found")
      yield* one.administration.revokeKey({ key_id: id })
      assert.isFalse(yield* Effect.promise(() => other.isCurrent(view, october)))
      assert.isUndefined(yield* find())
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
      assert.strictEqual(yield* Effect.promise(() => second.capture("req_2")), "charged")
      assert.strictEqual(yield* Effect.promise(() => first.capture("req_1")), "insufficient_balance")
      assert.strictEqual(yield* readBalance(one, key), 50)
      yield* assertSpendable(one, key, 50) // the refused call holds nothing
      assert.strictEqual(one.counters.refused_insufficient_balance, 1)
    }).pipe(Effect.scoped)
  )
})

describe("an operator's change between the admission of a call and its charge", () => {
  const changes = {
    "a revocation": ["unknown_key", ({ revokeKey }, { id }) => revokeKey({ key_id: id })],
    "a replaced secret": ["unknown_key", ({ rotateKey }, { id }) => rotateKey({ key_id: id, overlap_hours: 0 })],
    "a suspension": [
      "account_suspended",
      ({ suspendAccount }, { account_id }) => suspendAccount({ account_id, note: "unpaid" })
    ],
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
        CaptureOutcome,
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
      assert.strictEqual(yield* Effect.promise(() => held.capture("req_1")), expected)
      const charges = (yield* readEntries(ledger, key)).filter(({ type }) => type === "charge")
      assert.strictEqual(charges.length, expected === "charged" ? 1 : 0)
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )
})

describe("a charge that is written, and whose response is on its way", () => {
  it.live("does not count twice in the next call: it is refused for its budget, not for the balance", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* proxyTo(url)
      const ledger = yield* open(proxy.url)
      const observer = yield* open(url)
      const other = yield* makeKey(ledger)
      yield* charge(ledger, other, "req_0", 1) // opens the connection
      const key = yield* makeKey(ledger, 3_000)
      const held = yield* Effect.promise(() => admit(ledger, key, 3_000))
      const deliver = proxy.keepCommitResponse()
      const charging = held.capture("req_1")
      while ((yield* readEntries(observer, key)).length < 2) yield* Effect.sleep("5 millis")
      const admission = yield* Effect.promise(async () => {
        const view = await ledger.authenticate(key.key, october)
        assert.isDefined(view)
        const admission = ledger.hold(view, { endpoint, scope: "get-store", credits: 100 }, october)
        await ledger.isCurrent(view, october) // shares the lookup of the hold
        deliver()
        return admission
      })
      assert.deepStrictEqual(admission, { refused: "monthly_spend_cap_reached" })
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
    }).pipe(Effect.scoped)
  )

  it.live("does not admit the next call by rows that were read before the response was late", () =>
    Effect.gen(function* () {
      const url = yield* database
      const proxy = yield* proxyTo(url)
      const { ledger, pass } = yield* openWithClock(proxy.url)
      const observer = yield* open(url)
      const other = yield* makeKey(ledger)
      yield* charge(ledger, other, "req_0", 1) // opens the connection
      const key = yield* makeKey(ledger)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const deliver = proxy.keepCommitResponse()
      const charging = held.capture("req_1")
      while ((yield* readEntries(observer, key)).length < 2) yield* Effect.sleep("5 millis")
      yield* observer.administration.revokeKey({ key_id: key.id })
      pass(1_001)
      deliver()
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
      assert.isUndefined(yield* Effect.promise(() => ledger.authenticate(key.key, Date.now())))
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
          before.capture("req_stuck"),
          admit(ledger, stuck, 100).then((held) => held.capture("req_stuck_too")),
          ...Array.from({ length: 5 }, async (_, call) => (await admit(ledger, other, 100)).capture(`req_${call}`))
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
          ...before.map((held, call) => held.capture(`req_${call}`)),
          ...keys.map((key, call) => admit(ledger, key, 100).then((held) => held.capture(`req_more_${call}`)))
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
      yield* charge(one, key, "req_1")
      for (const ledger of [one, other]) {
        const holds = yield* Effect.promise(() => Promise.all([0, 1, 2].map(() => admit(ledger, key, 100))))
        const ids = [ledger === one ? "req_2" : "req_3", "req_1", ledger === one ? "req_4" : "req_5"]
        const ends = yield* Effect.promise(() =>
          Promise.allSettled(holds.map((held, index) => held.capture(ids[index] ?? "")))
        )
        assert.deepStrictEqual(
          ends.map(({ status }) => status),
          ["fulfilled", "rejected", "fulfilled"]
        )
      }
      assert.strictEqual(yield* readBalance(one, key), 4_500)
      yield* assertSpendable(other, key, 4_500)
    }).pipe(Effect.scoped)
  )
})
