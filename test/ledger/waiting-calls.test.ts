/**
 * Calls that wait for a slow database: five seconds after the read of its data, a call is refused instead of sent; at once
 * if its caller disconnects.
 */
import { rmSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { Effect } from "effect"
import { inject } from "vitest"
import { bearer } from "../support/api/client.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { newKey, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import {
  admit,
  assertSpendable,
  catchError,
  client,
  database,
  hold,
  lock,
  lockRow,
  makeKey,
  openWithClock,
  openWithLog,
  readBalance,
  untilTriedAlone,
  waitingSession,
  waitUntil
} from "./shared-ledger.ts"

interface GateOptions {
  /** A pattern of SQL: the requests whose charges wait. */
  readonly requestIds?: string
  readonly afterwards?: string
}

/** Makes the database wait for `open` before it inserts an entry. */
const closeGate = Effect.fnUntraced(function* (
  url: string,
  { afterwards = "return new;", requestIds = "%" }: GateOptions = {}
) {
  const sql = yield* client(url)
  yield* sql`create table ledger.gate (is_closed boolean)`
  yield* sql`insert into ledger.gate values (true)`
  yield* sql`create sequence ledger.attempt`
  yield* sql.unsafe(`create function ledger.wait() returns trigger language plpgsql as $$
    begin
      perform nextval('ledger.attempt');
      while new.request_id like '${requestIds}' and exists (select from ledger.gate) loop perform pg_sleep(0.01); end loop;
      ${afterwards}
    end $$`)
  yield* sql`create trigger wait before insert on ledger.entry for each row execute function ledger.wait()`
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
  return {
    untilReached: Effect.gen(function* () {
      while ((yield* waiting).length === 0) yield* Effect.sleep("5 millis")
    }),
    open: sql`delete from ledger.gate`,
    countAttempts: Effect.map(
      sql<{ attempts: number }>`select last_value::integer as attempts from ledger.attempt`,
      ([row]) => row?.attempts
    )
  }
})

describe("a table that another session has locked", () => {
  it.live.each(["share", "access exclusive"])(
    "makes the server not ready, logged once, and waiting calls fail when their time is over: %s",
    (mode) =>
      Effect.gen(function* () {
        const url = yield* database
        const { ledger, logged, pass } = yield* openWithClock(url)
        const keys = yield* Effect.all(Array.from({ length: 20 }, () => makeKey(ledger)))
        const holds = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
        const free = yield* lock(url, `lock table ledger.entry in ${mode} mode`)
        const errors = Promise.all(holds.map((held, call) => catchError(held.capture(`req_${call}`))))
        yield* Effect.promise(() => waitUntil(() => !ledger.writable()))
        pass(5_000)
        for (const error of yield* Effect.promise(() => errors)) assert.instanceOf(error, LedgerUnavailable)
        assert.strictEqual(logged.length, 1)
        assert.match(String(logged[0]), /^The ledger cannot be written: .*lock timeout/)
        yield* free
        yield* Effect.promise(() => waitUntil(ledger.writable))
        // no account is taken for a locked one, and nothing is held
        yield* Effect.promise(() => Promise.all(keys.map(async (key) => (await admit(ledger, key, 5_000)).release())))
      }).pipe(Effect.scoped)
  )

  it.live("makes lookups that wait meanwhile fail as soon as it is known", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger } = yield* openWithLog(url)
      const key = yield* makeKey(ledger)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const free = yield* lock(url, "lock table ledger.entry in share mode")
      const freeAccount = yield* lock(url, "lock table ledger.spent_in_month in access exclusive mode")
      const lookup = catchError(hold(ledger, key, 100))
      const charging = held.capture("req_1")
      assert.match(String(yield* Effect.promise(() => lookup)), /lock timeout/) // and not: no response within 5 seconds
      yield* Effect.andThen(free, freeAccount)
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
    }).pipe(Effect.scoped)
  )
})

describe("a group that takes five seconds to be charged", () => {
  it.live("makes calls that have waited for it meanwhile fail without a charge", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, pass } = yield* openWithClock(url)
      const key = yield* makeKey(ledger)
      const gate = yield* closeGate(url)
      const [first, second] = yield* Effect.promise(() =>
        Promise.all([admit(ledger, key, 100), admit(ledger, key, 100)])
      )
      const charging = first.capture("req_first")
      yield* gate.untilReached
      const late = catchError(second.capture("req_second"))
      pass(5_000)
      const fresh = admit(ledger, key, 100).then((held) => held.capture("req_fresh"))
      assert.instanceOf(yield* Effect.promise(() => late), LedgerUnavailable) // while the group is in progress
      yield* gate.open
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
      assert.strictEqual(yield* Effect.promise(() => fresh), "charged")
      assert.strictEqual(yield* readBalance(ledger, key), 4_800)
      assert.isTrue(ledger.writable())
      yield* assertSpendable(ledger, key, 4_800) // the late call holds nothing
    }).pipe(Effect.scoped)
  )

  it.live("does not delay the calls of another account", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger } = yield* openWithLog(url)
      const keys = [yield* makeKey(ledger), yield* makeKey(ledger)] as const
      const gate = yield* closeGate(url, { requestIds: "req_slow" })
      const [slow, other] = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
      const charging = slow?.capture("req_slow")
      yield* gate.untilReached
      assert.strictEqual(yield* Effect.promise(async () => other?.capture("req_other")), "charged") // the gate is closed
      yield* gate.open
      assert.strictEqual(yield* Effect.promise(async () => charging), "charged")
    }).pipe(Effect.scoped)
  )

  it.live("is not sent again after a cancelled statement", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, pass } = yield* openWithClock(url)
      const key = yield* makeKey(ledger)
      const gate = yield* closeGate(url, { afterwards: "raise exception 'made by a test' using errcode = '57014';" })
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const error = catchError(held.capture("req_1"))
      yield* gate.untilReached
      pass(5_000)
      yield* gate.open
      assert.instanceOf(yield* Effect.promise(() => error), LedgerUnavailable)
      assert.strictEqual(yield* gate.countAttempts, 1)
      yield* assertSpendable(ledger, key, 5_000)
    }).pipe(Effect.scoped)
  )
})

describe("a caller who disconnects", () => {
  it.live("is not charged, and holds nothing, while the charge waits for a lock or for another group", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger } = yield* openWithLog(url)
      const key = yield* makeKey(ledger)
      const free = yield* lock(url, lockRow, [key.account_id])
      const [sent, queued] = yield* Effect.promise(() =>
        Promise.all([admit(ledger, key, 100), admit(ledger, key, 100)])
      )
      const callers = [new AbortController(), new AbortController()] as const
      const sentError = catchError(sent.capture("req_sent", { signal: callers[0].signal }))
      yield* untilWaitingForLocks(yield* client(url))
      const queuedError = catchError(queued.capture("req_queued", { signal: callers[1].signal }))
      for (const caller of callers) caller.abort()
      assert.strictEqual(yield* Effect.promise(() => queuedError), callers[1].signal.reason)
      yield* free
      assert.strictEqual(yield* Effect.promise(() => sentError), callers[0].signal.reason)
      assert.strictEqual(yield* readBalance(ledger, key), 5_000)
      yield* assertSpendable(ledger, key, 5_000)
    }).pipe(Effect.scoped)
  )

  it.live("gets status 499 in a server's request log, is not charged, and holds nothing, while the charge waits", () =>
    Effect.gen(function* () {
      const url = yield* Effect.promise(() => newDatabase(inject("postgresUrl")))
      const environment = { LARDER_LEDGER_URL: url }
      const home = yield* Effect.acquireRelease(
        Effect.sync(() => copyHome(inject("sampleHome"))),
        (copied) => Effect.sync(() => rmSync(copied, { recursive: true, force: true }))
      )
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startServer(home, environment)),
        ({ stop }) => Effect.promise(() => stop())
      )
      const { account_id, key } = yield* Effect.promise(() => newKey(home, { environment }))
      const sql = yield* client(url)
      const logged = sql`select status, credits from console.request where account_id = ${account_id}`
      const untilLogged = Effect.repeat(Effect.delay(logged, "20 millis"), { until: ({ length }) => length > 0 })
      const caller = new AbortController()
      const call = (signal?: AbortSignal) =>
        fetch(`${server.api}/v1/commodities`, { headers: bearer(key), ...(signal && { signal }) })

      const free = yield* lock(url, lockRow, [account_id])
      const failed = catchError(call(caller.signal))
      yield* untilWaitingForLocks(sql)
      caller.abort()
      assert.strictEqual(yield* Effect.promise(() => failed), caller.signal.reason)
      assert.deepStrictEqual(yield* untilLogged, [{ status: 499, credits: 0 }])
      yield* free
      const { headers, status } = yield* Effect.promise(() => call())
      assert.deepStrictEqual([status, headers.get("x-credits-remaining")], [200, "4990"])
    }).pipe(Effect.scoped)
  )

  it.live("is charged if the charge is being written", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger } = yield* openWithLog(url)
      const key = yield* makeKey(ledger)
      const gate = yield* closeGate(url)
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const caller = new AbortController()
      const charging = held.capture("req_1", { signal: caller.signal })
      yield* gate.untilReached
      caller.abort()
      yield* gate.open
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
      assert.strictEqual(yield* readBalance(ledger, key), 4_900)
    }).pipe(Effect.scoped)
  )
})

describe("an account that another session has locked", () => {
  it.live("gets 503 at once as soon as one of its waiting calls has waited for five seconds", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, pass } = yield* openWithClock(url)
      const key = yield* makeKey(ledger)
      const sql = yield* client(url)
      const free = yield* lock(url, lockRow, [key.account_id])
      const [first, second] = yield* Effect.promise(() =>
        Promise.all([admit(ledger, key, 100), admit(ledger, key, 100)])
      )
      const firstOutcome = catchError(first.capture("req_1"))
      const pid = yield* untilTriedAlone(sql)
      const secondOutcome = catchError(second.capture("req_2"))
      pass(5_000)
      assert.instanceOf(yield* Effect.promise(() => secondOutcome), LedgerUnavailable)
      const refused = yield* Effect.promise(() => catchError(hold(ledger, key, 100)))
      assert.match(String(refused), /another session has locked account/)
      assert.strictEqual(yield* waitingSession(sql), pid) // the first call still waits
      yield* free
      yield* Effect.promise(() => firstOutcome)
    }).pipe(Effect.scoped)
  )
})
