/** Daily and weekly budgets, in both stores: they are as exact as the monthly one. */
import { assert, describe, it } from "@effect/vitest"
import type { Administration, LedgerAccess } from "@larder/serve/ledger"
import { Effect } from "effect"
import {
  admit,
  database,
  eagerLeases,
  holdCurrent,
  inDoubtFolder,
  type Key,
  newLedgers,
  open,
  readEntries
} from "./shared-ledger.ts"

/** A Wednesday. */
const wednesday = Date.parse("2026-11-25T12:00:00.000Z")
const day = 86_400_000
const monday = Date.parse("2026-11-30T00:00:00.000Z")

const makeLimitedKey = Effect.fnUntraced(function* (
  administration: Administration["Service"],
  budgets: { readonly daily_budget_credits?: number | null; readonly weekly_budget_credits?: number | null },
  budget_credits = 1_000
) {
  const { id } = yield* administration.createAccount({ name: "A" })
  return yield* administration.createKey({
    account_id: id,
    name: "k",
    scopes: ["get-store"],
    budget_credits,
    ...budgets
  })
})

let requests = 0
const call = async (ledger: LedgerAccess, key: Key, credits: number, now: number) => {
  const held = await holdCurrent(ledger, key, credits, now)
  if (typeof held === "string") return held
  await held.commit(`req_budget_${process.pid}_${requests++}`)
  return "charged"
}
const readRemaining = async (ledger: LedgerAccess, { key }: Key, now: number) => {
  const view = await ledger.authenticate(key, now)
  return view === undefined ? undefined : ledger.remaining(view, now)
}

describe.each(Object.entries(newLedgers))("a key with shorter budgets in %s", (_, newLedger) => {
  it.live("spends exactly its daily budget each UTC day, its weekly one each week from Monday, and its month", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const budgets = { daily_budget_credits: 100, weekly_budget_credits: 250 }
      const key = yield* makeLimitedKey(ledger.administration, budgets, 400)
      const callAt = (credits: number, now: number) => Effect.promise(() => call(ledger, key, credits, now))
      const remaining = (now: number) => Effect.promise(() => readRemaining(ledger, key, now))
      assert.strictEqual(yield* callAt(60, wednesday), "charged")
      assert.strictEqual(yield* remaining(wednesday), 40)
      assert.strictEqual(yield* callAt(41, wednesday), "daily_spend_cap_reached")
      assert.strictEqual(yield* callAt(40, wednesday), "charged")
      assert.strictEqual(yield* callAt(1, wednesday), "daily_spend_cap_reached")
      assert.strictEqual(yield* callAt(100, wednesday + day), "charged")
      assert.strictEqual(yield* remaining(wednesday + 2 * day), 50)
      assert.strictEqual(yield* callAt(51, wednesday + 2 * day), "weekly_spend_cap_reached")
      assert.strictEqual(yield* callAt(50, wednesday + 2 * day), "charged")
      assert.strictEqual(yield* callAt(1, monday - 1), "weekly_spend_cap_reached")
      assert.strictEqual(yield* callAt(100, monday), "charged")
      assert.strictEqual(yield* callAt(51, monday), "daily_spend_cap_reached")
      const december = Date.parse("2026-12-01T00:00:00.000Z")
      assert.strictEqual(yield* callAt(100, december), "charged")
      assert.strictEqual(yield* callAt(50, december + day), "charged")
      assert.strictEqual(yield* callAt(1, december + day), "weekly_spend_cap_reached")
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      const charges = (yield* readEntries(ledger, key)).filter(({ type }) => type === "charge")
      assert.deepStrictEqual(
        [...new Set(charges.map((entry) => `${entry.daily_budget_credits} ${entry.weekly_budget_credits}`))],
        ["100 250"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is refused for the balance first, then for the day, the week and the month", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const key = yield* makeLimitedKey(administration, { daily_budget_credits: 0, weekly_budget_credits: 0 }, 0)
      const callAt = (credits: number) => Effect.promise(() => call(ledger, key, credits, wednesday))
      const edit = (changes: object) => administration.editKey({ key_id: key.id, ...changes })
      assert.strictEqual(yield* callAt(5_001), "insufficient_balance")
      assert.strictEqual(yield* callAt(5_000), "daily_spend_cap_reached")
      yield* edit({ daily_budget_credits: null })
      assert.strictEqual(yield* callAt(1), "weekly_spend_cap_reached")
      yield* edit({ weekly_budget_credits: null })
      assert.strictEqual(yield* callAt(1), "monthly_spend_cap_reached")
    }).pipe(Effect.scoped)
  )

  it.live("counts what it spent and held before it got the budget, even after a restart", () =>
    Effect.gen(function* () {
      const opening = yield* newLedger
      const key = yield* Effect.gen(function* () {
        const ledger = yield* opening
        const { administration } = ledger
        const key = yield* makeLimitedKey(administration, {})
        const callAt = (credits: number, now: number) => Effect.promise(() => call(ledger, key, credits, now))
        assert.strictEqual(yield* callAt(30, wednesday - day), "charged")
        assert.strictEqual(yield* callAt(20, wednesday), "charged")
        const held = yield* Effect.promise(() => admit(ledger, key, 25, wednesday))
        yield* administration.editKey({ key_id: key.id, daily_budget_credits: 50, weekly_budget_credits: 100 })
        assert.strictEqual(yield* callAt(6, wednesday), "daily_spend_cap_reached")
        assert.strictEqual(yield* callAt(26, wednesday + day), "weekly_spend_cap_reached")
        yield* Effect.promise(() => held.commit(`req_held_${process.pid}_${requests++}`))
        assert.strictEqual(yield* callAt(6, wednesday), "daily_spend_cap_reached")
        assert.strictEqual(yield* callAt(5, wednesday), "charged")
        return key
      }).pipe(Effect.scoped)
      const reopened = yield* opening
      const callAt = (credits: number, now: number) => Effect.promise(() => call(reopened, key, credits, now))
      assert.strictEqual(yield* callAt(1, wednesday), "daily_spend_cap_reached")
      assert.strictEqual(yield* callAt(21, wednesday + day), "weekly_spend_cap_reached")
      assert.strictEqual(yield* callAt(20, wednesday + day), "charged")
      assert.strictEqual(yield* callAt(1, wednesday + 2 * day), "weekly_spend_cap_reached")
      assert.deepStrictEqual((yield* reopened.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("counts what it spent without a budget once it has the budget again", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const { administration } = ledger
      const key = yield* makeLimitedKey(administration, { daily_budget_credits: 50, weekly_budget_credits: 60 })
      const callAt = (credits: number) => Effect.promise(() => call(ledger, key, credits, wednesday))
      const edit = (daily: number | null, weekly: number | null) =>
        administration.editKey({ key_id: key.id, daily_budget_credits: daily, weekly_budget_credits: weekly })
      assert.strictEqual(yield* callAt(20), "charged")
      yield* edit(null, null)
      assert.strictEqual(yield* callAt(20), "charged")
      yield* edit(50, 60)
      assert.strictEqual(yield* callAt(11), "daily_spend_cap_reached")
      yield* edit(null, 60)
      assert.strictEqual(yield* callAt(21), "weekly_spend_cap_reached")
      assert.strictEqual(yield* callAt(20), "charged")
      const [summary] = yield* administration.listKeys(key)
      assert.deepStrictEqual([summary?.spent_today_usd, summary?.weekly_budget_usd], [null, 0.06])
    }).pipe(Effect.scoped)
  )

  it.live("admits only as many concurrent calls as its daily budget allows", () =>
    Effect.gen(function* () {
      const ledger = yield* yield* newLedger
      const key = yield* makeLimitedKey(ledger.administration, { daily_budget_credits: 70 }, 5_000)
      const calls = Array.from({ length: 40 }, () => call(ledger, key, 10, wednesday))
      const outcomes = yield* Effect.promise(() => Promise.all(calls))
      assert.strictEqual(outcomes.filter((outcome) => outcome === "charged").length, 7)
      assert.strictEqual(outcomes.filter((outcome) => outcome === "daily_spend_cap_reached").length, 33)
    }).pipe(Effect.scoped)
  )
})

describe("a key with a daily budget, called on two servers", () => {
  it.live("spends exactly its budget over both, although both lease the account or reserve credits of it", () =>
    Effect.gen(function* () {
      const url = yield* database
      const leasePolicy = { ...eagerLeases, sharedDuration: 5 }
      const servers = [yield* open(url, inDoubtFolder, leasePolicy), yield* open(url, inDoubtFolder, leasePolicy)]
      const [one] = servers
      if (one === undefined) return
      const key = yield* makeLimitedKey(
        one.administration,
        { daily_budget_credits: 1_230, weekly_budget_credits: 2_000 },
        5_000
      )
      const outcomes: Array<string> = []
      for (let round = 0; round < 10; round++) {
        const calls = servers.flatMap((ledger) => Array.from({ length: 10 }, () => call(ledger, key, 10, wednesday)))
        outcomes.push(...(yield* Effect.promise(() => Promise.all(calls))))
      }
      assert.strictEqual(outcomes.filter((outcome) => outcome === "charged").length, 123)
      assert.strictEqual(outcomes.filter((outcome) => outcome === "daily_spend_cap_reached").length, 77)
      const next = Array.from({ length: 100 }, (_, index) => call(servers[index % 2] ?? one, key, 10, wednesday + day))
      const outcomesOfNext = yield* Effect.promise(() => Promise.all(next))
      assert.strictEqual(outcomesOfNext.filter((outcome) => outcome === "charged").length, 77)
      assert.deepStrictEqual((yield* one.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
