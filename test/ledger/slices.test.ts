/** Accounts that several servers call at the same time: each decides within the slice that it has set aside. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import type { LedgerAccess } from "@larder/serve/ledger"
import { Clock, Effect } from "effect"
import { clockAt } from "./histories/world.ts"
import {
  admitted,
  atOnce,
  balanceOf,
  client,
  database,
  entriesOf,
  hold,
  type Key,
  keyOf,
  november,
  openedAtOnce
} from "./shared-ledger.ts"

describe("an account that two servers call at the same time", () => {
  const slicesOf = (url: string) =>
    Effect.flatMap(client(url), (sql) =>
      Effect.map(sql<{ is_asked: boolean }>`select is_asked from ledger.slice`, ({ length }) => length)
    )
  /**
   * Callers on each server, one call after the other, until a call is refused. Answers what was charged, how many calls were
   * admitted that began after `during`, and why they ended.
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
    const ends: Array<string> = []
    const caller = async (ledger: LedgerAccess) => {
      for (;;) {
        const wasOver = isOver
        const held = await hold(ledger, key, 10)
        if (held === "key_changed") continue
        if (typeof held === "string") {
          ends.push(held)
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
    return { charged, admittedAfterwards, ends: [...new Set(ends)] }
  }

  it.live("is decided by both in slices, to the last credit, and refused when none is left", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(ledgers[0])
      yield* ledgers[0].administration.creditAccount({ account_id: key.account_id, credits: 25_000, note: "more" })
      let mostSlices = 0
      const observer = yield* Effect.context<never>()
      const called = yield* Effect.promise(() =>
        callAll(ledgers, key, 20, async () => {
          for (let look = 0; look < 20 && mostSlices < 2; look++) {
            await sleep(10)
            mostSlices = Math.max(mostSlices, await Effect.runPromiseWith(observer)(Effect.scoped(slicesOf(url))))
          }
        })
      )
      assert.deepStrictEqual([called.charged, called.ends], [3_000, ["insufficient_balance"]])
      assert.strictEqual(mostSlices, 2)
      assert.strictEqual(yield* balanceOf(ledgers[1], key), 0)
      assert.deepStrictEqual((yield* ledgers[0].administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["balance", {}, 5_000],
    ["monthly budget", { budget_credits: 4_000 }, 4_000],
    ["daily budget", { daily_budget_credits: 3_000 }, 3_000]
  ] as const)(
    "can spend what is left of its %s at either server: slices of the other one are counted",
    ([, budgets, all]) =>
      Effect.gen(function* () {
        const url = yield* database
        const start = Date.now()
        const clock = clockAt(() => november + Date.now() - start)
        const opened = Effect.provideService(openedAtOnce(url), Clock.Clock, clock)
        const ledgers = yield* Effect.all([opened, opened])
        const key = yield* keyOf(ledgers[0])
        yield* ledgers[0].administration.editKey({ key_id: key.id, ...budgets })
        const remaining = (ledger: LedgerAccess) =>
          Effect.promise(async () => {
            const view = await ledger.authenticate(key.key, november)
            assert.isTrue(view && (await ledger.isCurrent(view, november)))
            return view && ledger.remaining(view, november)
          })
        const sql = yield* client(url)
        let mostSlices = 0
        for (let call = 1; call <= 20; call++) {
          const ledger = call % 2 === 0 ? ledgers[0] : ledgers[1]
          yield* Effect.promise(async () => (await admitted(ledger, key, 10, november)).commit(`req_${call}`))
          const left = yield* Effect.all(ledgers.map(remaining))
          const slices = yield* sql`select from ledger.holding where reserved > 0`
          mostSlices = Math.max(mostSlices, slices.length)
          assert.deepStrictEqual(left, [all - call * 10, all - call * 10], `after ${call} calls`)
        }
        assert.strictEqual(mostSlices, 2) // one of each server
        const [here, there] = ledgers
        yield* Effect.promise(async () => (await admitted(here, key, all - 200, november)).commit("req_last"))
        assert.deepStrictEqual(yield* Effect.all([remaining(here), remaining(there)]), [0, 0])
      }).pipe(Effect.scoped)
  )

  it.live("is whole again two seconds after the last call: another server gets the last credit without asking", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(here)
      for (const [ledger, request] of [
        [there, "req_there"],
        [here, "req_here"]
      ] as const) {
        yield* Effect.promise(async () => (await admitted(ledger, key, 10)).commit(request))
      }
      assert.isAbove(yield* slicesOf(url), 0)
      while ((yield* slicesOf(url)) > 0) yield* Effect.sleep("20 millis")
      const sql = yield* client(url)
      assert.deepStrictEqual(yield* sql`select from ledger.holding where credits > 0`, [])
      yield* Effect.promise(async () => (await admitted(there, key, 4_980)).commit("req_last"))
      const recalls = yield* sql`select from ledger.account where recalled_at is not null`
      assert.deepStrictEqual(recalls, []) // no server had to ask
    }).pipe(Effect.scoped)
  )

  it.live("keeps its slice at a server that keeps calling", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(here)
      yield* Effect.promise(async () => (await admitted(there, key, 10)).commit("req_there"))
      const sql = yield* client(url)
      for (let call = 0; call < 22; call++) {
        yield* Effect.promise(async () => (await admitted(here, key, 10)).release())
        yield* Effect.sleep("100 millis")
        if (call > 0) assert.lengthOf(yield* sql`select from ledger.slice`, 1, `slices after call ${call}`)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is changed for both at once: no call is admitted under the old budget afterwards", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const [{ administration }] = ledgers
      const key = yield* keyOf(ledgers[0])
      const { account_id, id: key_id } = key
      yield* administration.creditAccount({ account_id, credits: 500_000, note: "more" })
      const called = yield* Effect.promise(() =>
        callAll(ledgers, key, 20, async () => {
          await sleep(200)
          await Effect.runPromise(administration.editKey({ key_id, budget_credits: 0 }))
        })
      )
      assert.deepStrictEqual(called.ends, ["monthly_spend_cap_reached"])
      assert.strictEqual(called.admittedAfterwards, 0)
      const charges = (yield* entriesOf(ledgers[0], key)).filter(({ type }) => type === "charge")
      assert.strictEqual(charges.length, called.charged)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})

describe("an account that two servers called, and one calls on", () => {
  /** `a` has set something aside for the next calls of the key, and becomes the only one that calls. */
  const sharedBefore = Effect.fnUntraced(function* (a: LedgerAccess, b: LedgerAccess, key: Key) {
    for (const [ledger, request] of [
      [b, "req_b"],
      [a, "req_a"]
    ] as const) {
      yield* Effect.promise(async () => (await admitted(ledger, key, 10)).commit(request))
    }
    yield* Effect.promise(() => sleep(atOnce.sharedFor + 100))
  })

  it.live("is charged no more than the budget: the lease takes over the slices", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [a, b] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(a, 950)
      yield* sharedBefore(a, b, key)
      const ends = yield* Effect.promise(async () => {
        const held = [...Array(9).fill(100), 10, 10, 10, 10, 10].map((credits) => () => hold(a, key, credits))
        const admissions: Array<Awaited<ReturnType<typeof hold>>> = []
        for (const one of held) admissions.push(await one())
        await Promise.all(admissions.map((one, index) => typeof one !== "string" && one.commit(`req_${index}`)))
        return admissions.map((one) => (typeof one === "string" ? one : "charged"))
      })
      assert.deepStrictEqual(ends, [
        ...Array(12).fill("charged"),
        "monthly_spend_cap_reached",
        "monthly_spend_cap_reached"
      ])
      assert.strictEqual(yield* balanceOf(a, key), 5_000 - 950)
      assert.deepStrictEqual((yield* a.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses a call when another key of the account has spent the rest", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [a, b] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(a)
      const { account_id } = key
      const made = { account_id, name: "other", scopes: ["get-store"], budget_credits: 1_000_000 } as const
      const other = yield* a.administration.createKey(made)
      yield* sharedBefore(a, b, key)
      yield* Effect.promise(async () => (await admitted(a, other, 4_980)).commit("req_all"))
      assert.strictEqual(yield* Effect.promise(() => hold(a, key, 10)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )
})
