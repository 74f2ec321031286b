/** The entries in the database: they add up, and a verification or a start detects it if they do not. */
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
        await Promise.all(holds.map((held, call) => held.commit(`req_${call}`)))
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

  const damages = {
    "an amount": ["update ledger.entry set credits = credits - 1 where position = 3", /entry 3 .* has a balance of/],
    "a request id": [
      "update ledger.entry set request_id = 'other' where position = 3",
      /entry 3 of account acct_\w+ is not what was written/
    ],
    "a missing entry": [
      "delete from ledger.entry where position = 3",
      /entry 4 of account acct_\w+ follows its entry 2, so entries are missing/
    ],
    "the spending of a month": [
      "update ledger.spent_in_month set credits = credits + 1",
      /was charged 300 credits in \d+, and 301 are counted for its budget/
    ],
    "the usage": ["update ledger.usage_of_day set calls = calls + 1", /the usage of key key_\w+ on 2026-10-31 is not/],
    "the usage of a month": [
      "update ledger.usage_of_month set credits = credits + 1",
      /the usage of key key_\w+ in month \d+ is not the sum of its days/
    ],
    "the usage of an endpoint": [
      "delete from ledger.usage_of_endpoint",
      /the usage of \/v1\/stores by account acct_\w+ on 2026-10-31 is not the sum of its keys/
    ],
    "the account of an entry": [
      `insert into ledger.entry (account_id, position, type, occurred_at, credits, balance, hash)
      values ('acct_gone', 1, 'grant', now(), 0, 0, '')`,
      /1 entries belong to account acct_gone, which is missing/
    ],
    "the key of a charge": [
      "update ledger.entry set key_id = 'key_gone' where position = 3",
      /entry 3 of account acct_\w+ names key key_gone, which is not a key of this account/
    ],
    "a charge without a key": [
      "update ledger.entry set key_id = null where position = 3",
      /entry 3 of account acct_\w+ names key null, which is not a key of this account/
    ],
    "the owner of a key": [
      `insert into ledger.account values ('acct_other', 'x', now(), null, 0, 0, '');
      update ledger.api_key set account_id = 'acct_other'`,
      /entry 4 of account acct_\w+ names key key_\w+, which is not a key of this account/
    ],
    "a balance": [
      "update ledger.account set balance = 5000",
      /all balances add up to 5000 credits, but all entries to 4700/
    ],
    "the sum of refunds and disputes": [
      "update ledger.account set money_out = 7",
      /account acct_\w+ has 7 credits of refunds and disputes, but its entries add up to 0/
    ],
    "a balance after an entry": [
      "update ledger.entry set balance = -1 where position = 3",
      /entry 3 of account acct_\w+ leaves a balance of -1 credits/
    ]
  } as const
  it.live.each(Object.entries(damages))(
    "are verified completely, which detects a change of %s",
    ([, [damage, found]]) =>
      Effect.gen(function* () {
        const url = yield* database
        const ledger = yield* open(url)
        const key = yield* makeKey(ledger)
        yield* Effect.promise(async () => {
          for (const id of ["a", "b", "c"]) await (await admit(ledger, key, 100)).commit(`req_${id}`)
        })
        const sql = yield* client(url)
        for (const statement of damage.split(";")) yield* sql.unsafe(statement)
        const { problems } = yield* ledger.administration.verify({})
        assert.match(problems.join("\n"), found)
      }).pipe(Effect.scoped)
  )

  it.live("count a refunded call as neither spent nor used, in its own month and on its own day", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger, 200)
      for (const id of ["req_1", "req_2"]) {
        yield* Effect.promise(async () => (await admit(ledger, key, 100)).commit(id))
      }
      yield* refundCharge(url, "req_1")
      const { account_id } = key
      const days = { account_id, from: "2026-10-01", to: "2026-12-31" }
      assert.deepStrictEqual(yield* ledger.administration.usage(days), [
        { day: "2026-10-31", key_id: key.id, endpoint, calls: 1, credits: 100 }
      ])
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      yield* Effect.promise(async () => (await admit(ledger, key, 100)).commit("req_3"))
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
      assert.deepStrictEqual(yield* sql`select balance::integer, money_out::integer from ledger.account`, [
        { balance: -2, money_out: 5_002 }
      ])
    }).pipe(Effect.scoped)
  )

  const now = Date.now()
  const damagesAtStart = {
    "a changed entry": [
      "update ledger.entry set note = 'x' where position = 3",
      /entry 3 of account acct_\w+ is not what was written: its hash does not match/
    ],
    "a missing entry": [
      "delete from ledger.entry where position = 3",
      /entry 4 of account acct_\w+ follows its entry 2, so entries are missing/
    ],
    "a missing first entry": [
      "delete from ledger.entry where position = 1",
      /entry 2 of account acct_\w+ follows its entry 0, so entries are missing/
    ],
    "wrong spending this month": [
      "update ledger.spent_in_month set credits = credits - 1",
      /key key_\w+ has spent 299 credits this month, but its days add up to 300/
    ]
  } as const
  it.live.each(Object.entries(damagesAtStart))("prevent a start when they are damaged: %s", ([, [damage, found]]) =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger)
      for (const id of ["a", "b", "c"]) {
        yield* Effect.promise(async () => (await admit(ledger, key, 100, now)).commit(`req_${id}`))
      }
      yield* Effect.scoped(open(url))
      const sql = yield* client(url)
      yield* sql.unsafe(damage)
      const error = yield* Effect.flip(open(url))
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.match(error.message, found)
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

  it.live("prevent a start when they do not add up to the balance of their account", () =>
    Effect.gen(function* () {
      const url = yield* database
      const key = yield* Effect.scoped(Effect.flatMap(open(url), makeKey))
      const sql = yield* client(url)
      yield* sql`update ledger.account set balance = 6000`
      const error = yield* Effect.flip(open(url))
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.include(error.message, `account ${key.account_id} has 6000 credits after 1 entries`)
    }).pipe(Effect.scoped)
  )
})
