/** Accounts that several servers call at the same time: each decides within its slice. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import type { LedgerAccess } from "@larder/serve/ledger"
import { Clock, Effect } from "effect"
import { clockAt } from "./histories/world.ts"
import {
  admit,
  client,
  database,
  eagerLeases,
  hold,
  type Key,
  makeKey,
  november,
  openEager,
  readBalance,
  readEntries
} from "./shared-ledger.ts"

describe("an account that two servers call at the same time", () => {
  const countSlices = (url: string) =>
    Effect.flatMap(client(url), (sql) =>
      Effect.map(sql<{ is_asked: boolean }>`select is_asked from ledger.slice`, ({ length }) => length)
    )
  /**
   * Callers on each server send one call after the other, until a call is refused. Returns how many calls were charged, how
   * many of the admitted ones began after `during`, and why the callers stopped.
   */
  const callAll = async (
    ledgers: ReadonlyArray<LedgerAccess>,
    key: Key,
    callers: number,
    during?: () => Promise<void>
  ) => {
    let charged = 0
    let isOver = false
    let admittedAfterwards = 0
    const refusals: Array<string> = []
    const caller = async (ledger: LedgerAccess) => {
      for (;;) {
        const wasOver = isOver
        const held = await hold(ledger, key, 10)
        if (held === "key_changed") continue
        if (typeof held === "string") {
          refusals.push(held)
          return
        }
        if (wasOver) admittedAfterwards++
        await held.commit(`req_${crypto.randomUUID()}`)
        charged++
      }
    }
    const calling = ledgers.flatMap((ledger) => Array.from({ length: callers }, () => caller(ledger)))
    await during?.()
    isOver = during !== undefined
    await Promise.all(calling)
    return { charged, admittedAfterwards, refusals: [...new Set(refusals)] }
  }

  it.live("is decided by both in slices, down to the last credit, and then refused", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(ledgers[0])
      yield* ledgers[0].administration.creditAccount({ account_id: key.account_id, credits: 25_000, note: "more" })
      let maxSlices = 0
      const observer = yield* Effect.context<never>()
      const outcome = yield* Effect.promise(() =>
        callAll(ledgers, key, 20, async () => {
          for (let attempt = 0; attempt < 20 && maxSlices < 2; attempt++) {
            await sleep(10)
            maxSlices = Math.max(maxSlices, await Effect.runPromiseWith(observer)(Effect.scoped(countSlices(url))))
          }
        })
      )
      assert.deepStrictEqual([outcome.charged, outcome.refusals], [3_000, ["insufficient_balance"]])
      assert.strictEqual(maxSlices, 2)
      assert.strictEqual(yield* readBalance(ledgers[1], key), 0)
      assert.deepStrictEqual((yield* ledgers[0].administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["balance", {}, 5_000],
    ["budget", { budget_credits: 4_000 }, 4_000]
  ] as const)(
    "can spend the rest of its %s on either server: slices of the other server count as available",
    ([, budgets, all]) =>
      Effect.gen(function* () {
        const url = yield* database
        const start = Date.now()
        const clock = clockAt(() => november + Date.now() - start)
        const opened = Effect.provideService(openEager(url), Clock.Clock, clock)
        const ledgers = yield* Effect.all([opened, opened])
        const key = yield* makeKey(ledgers[0])
        yield* ledgers[0].administration.editKey({ key_id: key.id, ...budgets })
        const remaining = (ledger: LedgerAccess) =>
          Effect.promise(async () => {
            const view = await ledger.authenticate(key.key, november)
            assert.isTrue(view && (await ledger.isCurrent(view, november)))
            return view && ledger.remaining(view, november)
          })
        const sql = yield* client(url)
        let maxSlices = 0
        for (let call = 1; call <= 20; call++) {
          const ledger = call % 2 === 0 ? ledgers[0] : ledgers[1]
          yield* Effect.promise(async () => (await admit(ledger, key, 10, november)).commit(`req_${call}`))
          const left = yield* Effect.all(ledgers.map(remaining))
          const slices = yield* sql`select from ledger.holding where reserved > 0`
          maxSlices = Math.max(maxSlices, slices.length)
          assert.deepStrictEqual(left, [all - call * 10, all - call * 10], `after ${call} calls`)
        }
        assert.strictEqual(maxSlices, 2) // one on each server
        const [one, other] = ledgers
        yield* Effect.promise(async () => (await admit(one, key, all - 200, november)).commit("req_last"))
        assert.deepStrictEqual(yield* Effect.all([remaining(one), remaining(other)]), [0, 0])
      }).pipe(Effect.scoped)
  )

  it.live("has no slices two seconds after the last call: another server gets the last credit without a request", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(one)
      for (const [ledger, request] of [
        [other, "req_there"],
        [one, "req_here"]
      ] as const) {
        yield* Effect.promise(async () => (await admit(ledger, key, 10)).commit(request))
      }
      assert.isAbove(yield* countSlices(url), 0)
      while ((yield* countSlices(url)) > 0) yield* Effect.sleep("20 millis")
      const sql = yield* client(url)
      assert.deepStrictEqual(yield* sql`select from ledger.holding where credits > 0`, [])
      yield* Effect.promise(async () => (await admit(other, key, 4_980)).commit("req_last"))
      const recalls = yield* sql`select from ledger.account where recalled_at is not null`
      assert.deepStrictEqual(recalls, []) // no server had to request a slice
    }).pipe(Effect.scoped)
  )

  it.live("keeps its slice on a server that keeps calling", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [one, other] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(one)
      yield* Effect.promise(async () => (await admit(other, key, 10)).commit("req_there"))
      const sql = yield* client(url)
      for (let call = 0; call < 22; call++) {
        yield* Effect.promise(async () => (await admit(one, key, 10)).release())
        yield* Effect.sleep("100 millis")
        if (call > 0) assert.lengthOf(yield* sql`select from ledger.slice`, 1, `slices after call ${call}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is changed on both servers immediately: no call is admitted under the old budget afterwards", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([openEager(url), openEager(url)])
      const [{ administration }] = ledgers
      const key = yield* makeKey(ledgers[0])
      const { account_id, id: key_id } = key
      yield* administration.creditAccount({ account_id, credits: 500_000, note: "more" })
      const outcome = yield* Effect.promise(() =>
        callAll(ledgers, key, 20, async () => {
          await sleep(200)
          await Effect.runPromise(administration.editKey({ key_id, budget_credits: 0 }))
        })
      )
      assert.deepStrictEqual(outcome.refusals, ["monthly_spend_cap_reached"])
      assert.strictEqual(outcome.admittedAfterwards, 0)
      const charges = (yield* readEntries(ledgers[0], key)).filter(({ type }) => type === "charge")
      assert.strictEqual(charges.length, outcome.charged)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})

describe("an account that two servers called, and that one of them keeps calling", () => {
  /** Lets both servers call; then `a` has a slice for the next calls of the key, and is the only one that calls. */
  const callOnBoth = Effect.fnUntraced(function* (a: LedgerAccess, b: LedgerAccess, key: Key) {
    for (const [ledger, request] of [
      [b, "req_b"],
      [a, "req_a"]
    ] as const) {
      yield* Effect.promise(async () => (await admit(ledger, key, 10)).commit(request))
    }
    yield* Effect.promise(() => sleep(eagerLeases.sharedDuration + 100))
  })

  it.live("is charged no more than the budget: the lease replaces the slices", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [a, b] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(a, 950)
      yield* callOnBoth(a, b, key)
      const outcomes = yield* Effect.promise(async () => {
        const holds = [...Array(9).fill(100), 10, 10, 10, 10, 10].map((credits) => () => hold(a, key, credits))
        const admissions: Array<Awaited<ReturnType<typeof hold>>> = []
        for (const hold of holds) admissions.push(await hold())
        await Promise.all(admissions.map((held, index) => typeof held !== "string" && held.commit(`req_${index}`)))
        return admissions.map((held) => (typeof held === "string" ? held : "charged"))
      })
      assert.deepStrictEqual(outcomes, [
        ...Array(12).fill("charged"),
        "monthly_spend_cap_reached",
        "monthly_spend_cap_reached"
      ])
      assert.strictEqual(yield* readBalance(a, key), 5_000 - 950)
      assert.deepStrictEqual((yield* a.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a call when another key of the account has spent the rest", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [a, b] = yield* Effect.all([openEager(url), openEager(url)])
      const key = yield* makeKey(a)
      const { account_id } = key
      const settings = { account_id, name: "other", scopes: ["get-store"], budget_credits: 1_000_000 } as const
      const other = yield* a.administration.createKey(settings)
      yield* callOnBoth(a, b, key)
      yield* Effect.promise(async () => (await admit(a, other, 4_980)).commit("req_all"))
      assert.strictEqual(yield* Effect.promise(() => hold(a, key, 10)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )
})
