/** Accounts that one server decides in its memory, and the servers and commands that compete for them. */
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger/errors.ts"
import type { LedgerAccess } from "@larder/serve/ledger/ledger.ts"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { breakableWire } from "./breakable-wire.ts"
import { clockAt } from "./histories/world.ts"
import {
  admitted,
  atOnce,
  balanceOf,
  client,
  database,
  entriesOf,
  failure,
  hold,
  type Key,
  keyOf,
  lockAccount,
  november,
  open,
  openedAtOnce,
  until
} from "./shared-ledger.ts"

/** The account is leased to the server afterwards. */
const leased = (ledger: LedgerAccess, key: Key) =>
  Effect.promise(async () => (await admitted(ledger, key, 1)).release())
const leaseOf = (url: string) =>
  Effect.flatMap(client(url), (sql) =>
    Effect.map(sql<{ leased_by: string | null }>`select leased_by from ledger.account`, ([row]) => row?.leased_by)
  )

/** Runs `work` while another session has locked the account. */
const whileLocked = Effect.fnUntraced(function* <A, E, R>(url: string, id: string, work: Effect.Effect<A, E, R>) {
  const release = yield* Deferred.make<void>()
  const locking = yield* lockAccount(url, id, Deferred.await(release))
  const done = yield* work
  yield* Deferred.succeed(release, undefined)
  yield* Fiber.join(locking)
  return done
})

describe("an account that a server has leased", () => {
  it.live("is decided without the database, and charged in it", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* openedAtOnce(url)
      const key = yield* keyOf(ledger, 300)
      yield* leased(ledger, key)
      const holds = yield* whileLocked(
        url,
        key.account_id,
        Effect.promise(() => Promise.all([0, 1, 2].map(() => admitted(ledger, key, 100))))
      )
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "spend_cap_reached")
      yield* Effect.promise(() => Promise.all(holds.map((held, call) => held.commit(`req_${call}`))))
      assert.strictEqual((yield* entriesOf(ledger, key)).length, 4)
      assert.strictEqual(yield* balanceOf(ledger, key), 4_700)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("goes to another server that wants it, with all that is held, and to the one that keeps calling", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(here)
      yield* leased(here, key)
      const first = yield* leaseOf(url)
      assert.isNotNull(first)
      const held = yield* Effect.promise(() => admitted(here, key, 4_950))
      assert.strictEqual(yield* Effect.promise(() => hold(there, key, 100)), "insufficient_balance")
      assert.isNull(yield* leaseOf(url))
      yield* Effect.promise(() => held.commit("req_here"))
      yield* Effect.promise(async () => (await admitted(there, key, 50)).commit("req_there"))
      yield* Effect.promise(() => sleep(atOnce.sharedFor))
      for (const _ of [1, 2]) yield* Effect.promise(() => hold(there, key, 1))
      assert.notInclude([null, undefined, first], yield* leaseOf(url))
      assert.deepStrictEqual((yield* here.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("is given back within two seconds where no notification of the request arrives", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(here)
      yield* leased(here, key)
      const sql = yield* client(url)
      yield* sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query ilike 'listen%'`
      const begun = performance.now()
      yield* Effect.promise(async () => (await admitted(there, key, 5_000)).commit("req_1"))
      assert.isBelow(performance.now() - begun, 2_500)
      assert.strictEqual(yield* Effect.promise(() => hold(here, key, 1)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )

  it.live("is changed by operators for the very next call", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [ledger, { administration }] = yield* Effect.all([openedAtOnce(url), openedAtOnce(url)])
      const key = yield* keyOf(ledger)
      const { account_id, id: key_id } = key
      const next = (credits: number) => Effect.promise(() => hold(ledger, key, credits))
      yield* leased(ledger, key)
      yield* administration.creditAccount({ account_id, credits: 1_000, note: "more" })
      const all = yield* Effect.promise(() => admitted(ledger, key, 6_000))
      yield* administration.editKey({ key_id, budget_credits: 6_000 })
      const view = yield* Effect.promise(() => ledger.authenticate(key.key, Date.now()))
      assert.isFalse(yield* Effect.promise(async () => view !== undefined && ledger.isCurrent(view, Date.now())))
      yield* next(1) // looks the key up again
      yield* Effect.promise(() => all.commit("req_1"))
      yield* administration.book({ account_id, type: "top_up", credits: 100, reference: "pay_1", note: "paid" })
      assert.strictEqual(yield* next(1), "spend_cap_reached")
      yield* administration.revokeKey({ key_id })
      assert.strictEqual(yield* next(1), "key_changed")
      assert.strictEqual(yield* next(1), "unknown")
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("is free when its server has been silent for five seconds, and what that server held costs nothing", () =>
    Effect.gen(function* () {
      const url = yield* database
      const wire = yield* Effect.acquireRelease(
        Effect.promise(() => breakableWire(url)),
        ({ close }) => Effect.promise(close)
      )
      const [silent, next] = yield* Effect.all([openedAtOnce(wire.url), openedAtOnce(url)])
      const key = yield* keyOf(next)
      yield* leased(silent, key)
      const held = yield* Effect.promise(() => admitted(silent, key, 5_000))
      wire.cut()
      const begun = performance.now()
      yield* Effect.promise(async () => (await admitted(next, key, 5_000)).commit("req_next"))
      assert.isBelow(performance.now() - begun, 8_000)
      assert.instanceOf(yield* Effect.promise(() => failure(held.commit("req_silent"))), LedgerUnavailable)
      wire.mend()
      yield* Effect.promise(() => until(silent.writable))
      assert.strictEqual(yield* Effect.promise(() => hold(silent, key, 1)), "insufficient_balance")
      assert.deepStrictEqual(
        (yield* entriesOf(next, key)).map(({ request_id }) => request_id),
        [null, "req_next"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is not decided by what a suspended machine remembers, whose monotonic clock stood still", () =>
    Effect.gen(function* () {
      const url = yield* database
      let suspendedFor = 0
      const clock = clockAt(() => Date.now() + suspendedFor)
      const suspended = yield* Effect.provideService(openedAtOnce(url), Clock.Clock, clock)
      const next = yield* openedAtOnce(url)
      const key = yield* keyOf(next)
      yield* leased(suspended, key)
      const sql = yield* client(url)
      yield* sql`delete from ledger.server where id = (select leased_by from ledger.account)` // it was silent
      yield* Effect.promise(async () => (await admitted(next, key, 5_000)).commit("req_next"))
      suspendedFor = 6_000
      assert.instanceOf(yield* Effect.promise(() => failure(hold(suspended, key, 100))), LedgerUnavailable)
      yield* Effect.promise(() => until(suspended.writable))
      assert.strictEqual(yield* Effect.promise(() => hold(suspended, key, 100)), "insufficient_balance")
    }).pipe(Effect.scoped)
  )

  it.live("is not taken while another server holds something of the account", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([open(url), openedAtOnce(url)])
      const key = yield* keyOf(here)
      const held = yield* Effect.promise(() => admitted(here, key, 100))
      for (const _ of [1, 2, 3]) yield* leased(there, key)
      assert.isNull(yield* leaseOf(url))
      yield* Effect.promise(() => held.commit("req_1"))
    }).pipe(Effect.scoped)
  )
})

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

  it.live("is decided by both in slices, to the last credit, and refused where none is left", () =>
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
        for (let call = 1; call <= 20; call++) {
          const ledger = call % 2 === 0 ? ledgers[0] : ledgers[1]
          yield* Effect.promise(async () => (await admitted(ledger, key, 10, november)).commit(`req_${call}`))
          const told = yield* Effect.all(ledgers.map(remaining))
          assert.deepStrictEqual(told, [all - call * 10, all - call * 10], `after ${call} calls`)
        }
        const sql = yield* client(url)
        assert.lengthOf(yield* sql`select from ledger.holding where reserved > 0`, 2)
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

  it.live("keeps its slice at a server that goes on calling", () =>
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
      assert.deepStrictEqual(called.ends, ["spend_cap_reached"])
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

  it.live("is charged no more than the budget: the lease takes what was set aside", () =>
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
      assert.deepStrictEqual(ends, [...Array(12).fill("charged"), "spend_cap_reached", "spend_cap_reached"])
      assert.strictEqual(yield* balanceOf(a, key), 5_000 - 950)
      assert.deepStrictEqual((yield* a.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses what another key of the account has left nothing for", () =>
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

describe("a database that has lost what a server wrote", () => {
  const losses = {
    "a decision": "update ledger.server set groups = groups - 1",
    "an entry": `with gone as (delete from ledger.entry where position > 1),
      gone_too as (delete from ledger.spent_in_month), usage as (delete from ledger.usage_of_day),
      more as (delete from ledger.usage_of_month), all_usage as (delete from ledger.usage_of_endpoint)
      update ledger.account set position = 1, balance = 5000, hash = entry.hash from ledger.entry where entry.position = 1`
  }
  it.live.each(Object.entries(losses))("makes it rejoin, without a charge: %s", ([, loss]) =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* openedAtOnce(url)
      const key = yield* keyOf(ledger)
      yield* Effect.promise(async () => (await admitted(ledger, key, 100)).commit("req_1"))
      const before = (yield* entriesOf(ledger, key)).length
      const held = yield* Effect.promise(() => admitted(ledger, key, 100))
      const sql = yield* client(url)
      yield* sql.unsafe(loss)
      const left = (yield* entriesOf(ledger, key)).length
      assert.instanceOf(yield* Effect.promise(() => failure(held.commit("req_2"))), LedgerUnavailable)
      yield* Effect.promise(() => until(ledger.writable))
      assert.isAtMost(left, before)
      assert.strictEqual((yield* entriesOf(ledger, key)).length, left)
      yield* Effect.promise(async () => (await admitted(ledger, key, 100)).commit("req_3"))
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
