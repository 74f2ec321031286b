/** The entries in the database. What a verification and a start find if they do not add up is in `tampering`. */
import { assert, describe, it } from "@effect/vitest"
import { connect, type Entry } from "@larder/serve/ledger"
import { type ChainHead, emptyHead, findBreak } from "@larder/serve/ledger/chain/chain.ts"
import { bookEntries, changeAccounts } from "@larder/serve/ledger/postgres/changes.ts"
import { Effect, Redacted } from "effect"
import { admit, client, database, endpoint, hold, makeKey, open, readEntries, refundCharge } from "./shared-ledger.ts"

describe("the entries in the database", () => {
  it.live("form the same hash chain as in the embedded ledger, even with unusual characters in a note", () =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* makeKey(ledger)
      const notes = ["sorry", "ünïcödé 🧀", "a | b", "'; drop table ledger.entry --", "\\n"]
      for (const note of notes) {
        yield* ledger.administration.creditAccount({ account_id: key.account_id, credits: 1, note })
      }
      yield* Effect.promise(async () => {
        const holds = await Promise.all(Array.from({ length: 40 }, () => admit(ledger, key, 100)))
        await Promise.all(holds.map((held, call) => held.capture(`req_${call}`)))
      })
      const entries = yield* readEntries(ledger, key)
      let head: ChainHead = emptyHead
      for (const entry of entries) {
        assert.isUndefined(findBreak(head, entry))
        head = entry
      }
      assert.strictEqual(entries.length, 46)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  it.live("count a refunded call as neither spent nor used, in its own month and on its own day", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger, 200)
      for (const id of ["req_1", "req_2"]) {
        yield* Effect.promise(async () => (await admit(ledger, key, 100)).capture(id))
      }
      yield* refundCharge(url, "req_1")
      const { account_id } = key
      const days = { account_id, from: "2026-10-01", to: "2026-12-31" }
      assert.deepStrictEqual(yield* ledger.administration.usage(days), [
        { day: "2026-10-31", key_id: key.id, endpoint, calls: 1, credits: 100 }
      ])
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      yield* Effect.promise(async () => (await admit(ledger, key, 100)).capture("req_3"))
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "monthly_spend_cap_reached")
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      yield* open(url) // finds no problem either
    }).pipe(Effect.scoped)
  )

  it.live("allow only refunds and disputes to make a balance negative", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const { account_id } = yield* makeKey(ledger)
      const sql = yield* client(url)
      const connected = yield* connect(Redacted.make(url))
      const book = (type: Entry["type"], credits: number) => {
        const nothing = { key_id: null, endpoint: null, budget_credits: null, request_id: null }
        const draft = {
          ...nothing,
          account_id,
          type,
          occurred_at: "2026-10-31T00:00:00.000Z",
          credits,
          note: "x"
        }
        return changeAccounts(connected, [draft.account_id], bookEntries(connected, [draft]))
      }
      for (const type of ["charge", "top_up", "auto_recharge", "grant"] as const) {
        assert.strictEqual((yield* Effect.flip(book(type, -5_001)))._tag, "SqlError")
      }
      yield* book("refund", -5_001)
      yield* book("adjustment", -1)
      assert.strictEqual((yield* Effect.flip(book("top_up", -5_001)))._tag, "SqlError")
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      assert.deepStrictEqual(yield* sql`select balance::integer, reversed_credits::integer from ledger.account`, [
        { balance: -2, reversed_credits: 5_002 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("are checked at a start up to the 1,000 newest of an account, and all of them by a verification", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger)
      const sql = yield* client(url)
      const drafts = Array.from({ length: 1_100 }, (_, index) => ({
        ...{ account_id: key.account_id, occurred_at: "2026-10-31T00:00:00.000Z", key_id: null },
        type: "adjustment" as const,
        ...{ endpoint: null, credits: index, budget_credits: null, request_id: null, note: "x" }
      }))
      const connected = yield* connect(Redacted.make(url))
      yield* changeAccounts(connected, [key.account_id], bookEntries(connected, drafts))
      yield* sql`update ledger.entry set note = 'y' where position = 101`
      yield* Effect.scoped(open(url))
      const { problems } = yield* ledger.administration.verify({})
      assert.match(problems.join("\n"), /^entry 101 of account acct_\w+ is not what was written/)
      yield* sql`update ledger.entry set note = 'y' where position = 102`
      const error = yield* Effect.flip(open(url))
      assert.match(error.message, /entry 102 of account acct_\w+ is not what was written/)
    }).pipe(Effect.scoped)
  )
})
