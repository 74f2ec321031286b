/** The table of failures in `failed-groups.ts`: what becomes of a call whose group the database refuses, and of its hold. */
import { assert, describe, it } from "@effect/vitest"
import { LedgerUnavailable } from "@larder/serve/ledger"
import { Effect } from "effect"
import { admit, catchError, client, database, hold, makeKey, open, readBalance, readEntries } from "./shared-ledger.ts"

/** Makes the database fail `times` times with an SQL state when `requestId` is charged. */
const failCharges = Effect.fnUntraced(function* (url: string, state: string, times: number, requestId: string) {
  const sql = yield* client(url)
  yield* sql`create sequence ledger.failure`
  yield* sql.unsafe(`create function ledger.fail() returns trigger language plpgsql as $$
    begin
      if new.request_id = '${requestId}' and nextval('ledger.failure') <= ${times} then
        raise exception 'made by a test' using errcode = '${state}';
      end if;
      return new;
    end $$`)
  yield* sql`create trigger fail before insert on ledger.entry for each row execute function ledger.fail()`
})

const always = 1_000
const unavailable = "unavailable"
const failures = [
  ["a deadlock", "40P01", 5, "charged"],
  ["a deadlock again and again", "40P01", always, unavailable],
  ["a serialisation failure", "40001", 5, "charged"],
  ["a cancelled statement", "57014", 1, "charged"],
  ["a constraint", "23514", always, "failed"],
  ["a full disk", "53100", always, unavailable],
  ["too little memory", "53200", always, unavailable],
  ["a session that the database ends", "57P01", 2, "charged"],
  ["a standby, which only reads", "25006", 2, "charged"],
  ["a database that does not come back", "57P01", always, unavailable],
  ["an unknown column", "42703", always, "failed"],
  ["an internal error", "XX000", always, "failed"]
] as const

describe("a group that fails in the database", () => {
  it.live.each(failures)("charges a call once or not at all, and ends its hold: %s", ([, state, times, expected]) =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const [key, other] = [yield* makeKey(ledger), yield* makeKey(ledger)]
      yield* failCharges(url, state, times, "req_failing")
      const [outcome, ofOther] = yield* Effect.promise(async () => {
        const [failing, fine] = [await admit(ledger, key, 4_000), await admit(ledger, other, 100)]
        const captures = [failing.capture("req_failing"), fine.capture("req_fine").catch(() => "failed")] as const
        const outcome = await Promise.allSettled(captures)
        assert.isDefined(await catchError(failing.capture("req_again"))) // a hold is used once
        failing.release()
        return outcome
      })
      if (outcome.status === "fulfilled") assert.strictEqual(outcome.value, expected)
      else assert.strictEqual(outcome.reason instanceof LedgerUnavailable ? unavailable : "failed", expected)
      if (state.startsWith("23")) assert.deepStrictEqual(ofOther, { status: "fulfilled", value: "charged" })

      const charges = (yield* readEntries(ledger, key)).filter(({ type }) => type === "charge")
      assert.strictEqual(charges.length, expected === "charged" ? 1 : 0)
      const rest = expected === "charged" ? 1_000 : 5_000
      assert.strictEqual(yield* readBalance(ledger, key), rest)
      yield* Effect.promise(async () => {
        const next = await admit(ledger, key, rest) // nothing of the failed call is held
        assert.strictEqual(await hold(ledger, key, 1), "insufficient_balance")
        assert.strictEqual(await next.capture("req_next"), "charged")
      })
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
