/** Calls and changes that race for the same credits: callers of one server over a folder, and of two over PostgreSQL. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import type { LedgerAccess } from "@larder/serve/ledger"
import { Effect } from "effect"
import {
  admit,
  assertNoProblems,
  catchError,
  database,
  hold,
  holdCurrent,
  type Key,
  makeKey,
  newLedgers,
  november,
  open,
  proxyTo,
  readBalance,
  readEntries
} from "./shared-ledger.ts"

/** The servers of a ledger. */
const sites = {
  "one server over a folder": Effect.gen(function* () {
    return [yield* yield* newLedgers["a folder"]] as const
  }),
  "two servers over PostgreSQL": Effect.gen(function* () {
    const opening = yield* newLedgers.PostgreSQL
    return [yield* opening, yield* opening] as const
  })
}

const newRequestId = () => `req_${crypto.randomUUID()}`

/** One call. Returns whether it was charged, or why it was refused. */
const call = async (ledger: LedgerAccess, key: Key, credits: number, now: number) => {
  const held = await holdCurrent(ledger, key, credits, now)
  if (typeof held === "string") return held
  const outcome = await held.capture(newRequestId())
  return outcome === "unknown_key" ? "unknown" : outcome
}

const price = 10

/**
 * Callers on each server send one call after the other until one is refused. `during` runs meanwhile. Returns how many
 * calls were charged, how many of them began after `during`, and why the callers stopped.
 */
const callUntilRefused = async (servers: ReadonlyArray<LedgerAccess>, key: Key, during?: () => Promise<unknown>) => {
  const outcome = { charged: 0, chargedAfterwards: 0, refusals: new Set<string>() }
  let isOver = false
  const caller = async (ledger: LedgerAccess) => {
    for (;;) {
      const wasOver = isOver
      const ended = await call(ledger, key, price, november)
      if (ended !== "charged") {
        outcome.refusals.add(ended)
        return
      }
      outcome.charged++
      if (wasOver) outcome.chargedAfterwards++
    }
  }
  const calling = servers.flatMap((ledger) => Array.from({ length: 20 }, () => caller(ledger)))
  await during?.()
  isOver = during !== undefined
  await Promise.all(calling)
  return { ...outcome, refusals: [...outcome.refusals] }
}

const countCharges = (ledger: LedgerAccess, key: Key) =>
  Effect.map(readEntries(ledger, key), (entries) => entries.filter(({ type }) => type === "charge").length)

describe.each(Object.entries(sites))("callers of %s", (_, site) => {
  it.live("spend the balance down to the last credit, and then refuse", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const [{ administration }] = servers
      const key = yield* makeKey(servers[0])
      yield* administration.creditAccount({ account_id: key.account_id, credits: 15_000, note: "more" })
      const { charged, refusals } = yield* Effect.promise(() => callUntilRefused(servers, key))
      assert.deepStrictEqual({ charged, refusals }, { charged: 2_000, refusals: ["insufficient_balance"] })
      assert.strictEqual(yield* readBalance(servers[0], key), 0)
      assert.strictEqual(yield* countCharges(servers[0], key), charged)
      yield* assertNoProblems(servers[0])
    }).pipe(Effect.scoped)
  )

  it.live("spend the budget of a month down to the last credit, and then refuse", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const key = yield* makeKey(servers[0], 4_000)
      const { charged, refusals } = yield* Effect.promise(() => callUntilRefused(servers, key))
      assert.deepStrictEqual({ charged, refusals }, { charged: 400, refusals: ["monthly_spend_cap_reached"] })
      assert.strictEqual(yield* readBalance(servers[0], key), 1_000)
      yield* assertNoProblems(servers[0])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["balance", 1_000_000, 5_000],
    ["budget", 4_000, 4_000]
  ] as const)("agree on what is left of the %s after each call", ([, budget, all]) =>
    Effect.gen(function* () {
      const servers = yield* site
      const key = yield* makeKey(servers[0], budget)
      const readRemaining = async (ledger: LedgerAccess) => {
        const view = await ledger.authenticate(key.key, november)
        return view && (await ledger.isCurrent(view, november)) && ledger.remaining(view, november)
      }
      const remaining = () => Effect.promise(() => Promise.all(servers.map(readRemaining)))
      for (let number = 1; number <= 20; number++) {
        const ledger = servers[number % servers.length] ?? servers[0]
        assert.strictEqual(yield* Effect.promise(() => call(ledger, key, 10, november)), "charged")
        assert.deepStrictEqual(
          yield* remaining(),
          servers.map(() => all - number * 10)
        )
      }
      assert.strictEqual(yield* Effect.promise(() => call(servers[0], key, all - 200, november)), "charged")
      assert.deepStrictEqual(
        yield* remaining(),
        servers.map(() => 0)
      )
    }).pipe(Effect.scoped)
  )

  it.live("charge nothing under the old budget once a lower one was confirmed", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const [{ administration }] = servers
      const key = yield* makeKey(servers[0])
      const { account_id, id: key_id } = key
      yield* administration.creditAccount({ account_id, credits: 5_000_000, note: "more" })
      const { charged, chargedAfterwards, refusals } = yield* Effect.promise(() =>
        callUntilRefused(servers, key, async () => {
          await sleep(200)
          await Effect.runPromise(administration.editKey({ key_id, budget_credits: 0 }))
        })
      )
      assert.deepStrictEqual(refusals, ["monthly_spend_cap_reached"])
      assert.strictEqual(chargedAfterwards, 0)
      assert.strictEqual(yield* countCharges(servers[0], key), charged)
      yield* assertNoProblems(servers[0])
    }).pipe(Effect.scoped)
  )

  it.live("apply every change by an operator from the next call on", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const [{ administration }] = servers
      const key = yield* makeKey(servers[0])
      const { account_id, id: key_id } = key
      /** The outcome of a call on each server, one after the other. */
      const callAll = (credits: number) =>
        Effect.promise(async () => {
          const outcomes: Array<string> = []
          for (const ledger of servers) outcomes.push(await call(ledger, key, credits, november))
          return outcomes
        })
      const everywhere = (outcome: string) => servers.map(() => outcome)
      assert.deepStrictEqual(yield* callAll(10), everywhere("charged"))
      yield* administration.editKey({ key_id, budget_credits: 10 })
      assert.deepStrictEqual(yield* callAll(10), everywhere("monthly_spend_cap_reached"))
      yield* administration.editKey({ key_id, budget_credits: 1_000_000 })
      assert.deepStrictEqual(yield* callAll(6_000), everywhere("insufficient_balance"))
      yield* administration.creditAccount({ account_id, credits: 20_000, note: "more" })
      assert.deepStrictEqual(yield* callAll(6_000), everywhere("charged"))
      yield* administration.revokeKey({ key_id })
      assert.deepStrictEqual(yield* callAll(10), everywhere("unknown"))
      yield* assertNoProblems(servers[0])
    }).pipe(Effect.scoped)
  )

  it.live("refuse a call when another key of the account has spent the rest", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const key = yield* makeKey(servers[0])
      const { account_id } = key
      const settings = { account_id, name: "other", scopes: ["get-store"], budget_credits: 1_000_000 } as const
      const other = yield* servers[0].administration.createKey(settings)
      yield* Effect.promise(async () => {
        for (const ledger of servers) assert.strictEqual(await call(ledger, key, 10, november), "charged")
        const rest = 5_000 - 10 * servers.length
        assert.strictEqual(await call(servers[0], other, rest, november), "charged")
        for (const ledger of servers) assert.strictEqual(await call(ledger, key, 10, november), "insufficient_balance")
      })
      yield* assertNoProblems(servers[0])
    }).pipe(Effect.scoped)
  )

  it.live("decide calls of one moment one by one: a small call is admitted after a large one was refused", () =>
    Effect.gen(function* () {
      const servers = yield* site
      const key = yield* makeKey(servers[0], 150)
      const outcomes = yield* Effect.promise(() =>
        Promise.all([100, 100, 10, 5_000, 40, 1].map((credits) => hold(servers[0], key, credits)))
      )
      assert.deepStrictEqual(
        outcomes.map((outcome) => (typeof outcome === "string" ? outcome : "held")),
        ["held", "monthly_spend_cap_reached", "held", "insufficient_balance", "held", "monthly_spend_cap_reached"]
      )
    }).pipe(Effect.scoped)
  )
})

describe("a server that loses the database in the middle of calls", () => {
  const openBehindProxy = Effect.gen(function* () {
    const url = yield* database
    const proxy = yield* proxyTo(url)
    return { proxy, dead: yield* open(proxy.url), other: yield* open(url) }
  })

  it.live("leaves all credits to the other server within seconds, and its own calls are not charged", () =>
    Effect.gen(function* () {
      const { dead, other, proxy } = yield* openBehindProxy
      const key = yield* makeKey(other)
      assert.strictEqual(yield* Effect.promise(() => call(dead, key, 10, november)), "charged")
      const held = yield* Effect.promise(() => admit(dead, key, 4_000, november))
      proxy.cut()
      yield* Effect.promise(async () => {
        const startedAt = performance.now()
        let outcome = await call(other, key, 4_990, november)
        while (outcome !== "charged" && performance.now() - startedAt < 10_000) {
          await sleep(50)
          outcome = await call(other, key, 4_990, november)
        }
        assert.strictEqual(outcome, "charged")
        assert.isDefined(await catchError(held.capture("req_dead")))
      })
      proxy.repair()
      const readOutcome = Effect.promise(() => call(dead, key, 10, november).catch(() => "unavailable"))
      while ((yield* readOutcome) === "unavailable") yield* Effect.sleep("20 millis")
      assert.strictEqual(yield* readOutcome, "insufficient_balance")
      assert.strictEqual(yield* countCharges(other, key), 2)
      yield* assertNoProblems(other)
    }).pipe(Effect.scoped)
  )
})
