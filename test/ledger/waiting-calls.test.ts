/** Calls that wait for a slow database: five seconds after the read of its data, a call is refused instead of sent. */
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { Clock, Effect } from "effect"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"
import { clockAt } from "./histories/world.ts"
import { admit, catchError, client, database, hold, lock, makeKey, open, readBalance } from "./shared-ledger.ts"

/** A ledger for which time passes only by `passFiveSeconds`. */
const openWithClock = Effect.fnUntraced(function* (url: string) {
  let nanoseconds = 0n
  const clock = { ...clockAt(Date.now), monotonicTimeNanosUnsafe: () => nanoseconds }
  const ledger = yield* Effect.provideService(open(url), Clock.Clock, clock)
  const passFiveSeconds = () => {
    nanoseconds += 5_000_000_000n
  }
  return { ledger, passFiveSeconds }
})

describe("a table that another session has locked", () => {
  it.live("makes the calls of all accounts fail when their time is over, without an attempt for each account", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, passFiveSeconds } = yield* openWithClock(url)
      const keys = yield* Effect.all(Array.from({ length: 20 }, () => makeKey(ledger)))
      const holds = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
      const free = yield* lock(url, "lock table ledger.entry in access exclusive mode")
      const errors = Promise.all(holds.map((held, call) => catchError(held.commit(`req_${call}`))))
      yield* untilWaitingForLocks(yield* client(url))
      passFiveSeconds()
      for (const error of yield* Effect.promise(() => errors)) assert.instanceOf(error, LedgerUnavailable)
      yield* free
      // the calls of an account are refused at once after an attempt for it alone
      const admissions = yield* Effect.promise(() =>
        Promise.all(keys.map((key) => catchError(hold(ledger, key, 5_000))))
      )
      assert.isAtMost(admissions.filter((error) => error !== undefined).length, 2)
    }).pipe(Effect.scoped)
  )
})

describe("a group that takes five seconds to be charged", () => {
  it.live("makes calls that have waited for it meanwhile fail without a charge", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, passFiveSeconds } = yield* openWithClock(url)
      const key = yield* makeKey(ledger)
      const sql = yield* client(url)
      yield* sql`create table ledger.gate (is_closed boolean)`
      yield* sql`insert into ledger.gate values (true)`
      yield* sql`create function ledger.wait() returns trigger language plpgsql as $$
        begin
          while exists (select from ledger.gate) loop perform pg_sleep(0.01); end loop;
          return new;
        end $$`
      yield* sql`create trigger wait before insert on ledger.entry for each row execute function ledger.wait()`
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`

      const [first, second] = yield* Effect.promise(() =>
        Promise.all([admit(ledger, key, 100), admit(ledger, key, 100)])
      )
      const charging = first.commit("req_first")
      while ((yield* waiting).length === 0) yield* Effect.sleep("5 millis")
      const late = catchError(second.commit("req_second"))
      passFiveSeconds()
      const fresh = admit(ledger, key, 100).then((held) => held.commit("req_fresh"))
      yield* sql`delete from ledger.gate`
      assert.strictEqual(yield* Effect.promise(() => charging), "charged")
      assert.instanceOf(yield* Effect.promise(() => late), LedgerUnavailable)
      assert.strictEqual(yield* Effect.promise(() => fresh), "charged")
      assert.strictEqual(yield* readBalance(ledger, key), 4_800)
      assert.isTrue(ledger.writable())
      yield* Effect.promise(async () => (await admit(ledger, key, 4_800)).release()) // the late call holds nothing
    }).pipe(Effect.scoped)
  )
})
