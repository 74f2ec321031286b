/** The ledger in PostgreSQL, seen from inside one process: two of them share a database here as two servers do. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { beginning, breakBefore, type ChainHead } from "@larder/serve/ledger/chain.ts"
import { LedgerUnavailable } from "@larder/serve/ledger/errors.ts"
import type { Held, LedgerAccess } from "@larder/serve/ledger/ledger.ts"
import { postgresLedger } from "@larder/serve/ledger/postgres/postgres-ledger.ts"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope, Stream } from "effect"
import { afterAll, inject } from "vitest"
import { newDatabase } from "../postgres.ts"
import { breakableWire } from "./breakable-wire.ts"

const october = Date.parse("2026-10-31T23:59:59.999Z")
const november = Date.parse("2026-11-01T00:00:00.000Z")
const endpoint = "/v1/stores"

const database = Effect.promise(() => newDatabase(inject("postgresUrl")))
const doubts = mkdtempSync(path.join(tmpdir(), "larder-doubts-"))
afterAll(() => rmSync(doubts, { recursive: true }))
const open = (url: string, directory = doubts) => postgresLedger(Redacted.make(url), directory)
/** For what no operator does. */
const client = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url) })), (built) => Context.get(built, PgClient.PgClient))

const keyOf = Effect.fnUntraced(function* ({ administration }: LedgerAccess, budget_credits = 1_000_000) {
  const { id } = yield* administration.createAccount({ name: "Überrest & Söhne" })
  return yield* administration.createKey({ account_id: id, name: "k", scopes: ["get-store"], budget_credits })
})

type Key = Effect.Success<ReturnType<typeof keyOf>>

/** As for a call that was answered with an error although it was charged. */
const giveBack = Effect.fnUntraced(function* (url: string, requestId: string) {
  const sql = yield* client(url)
  yield* sql`
    select ledger.book(jsonb_agg(to_jsonb(entry) || jsonb_build_object('type', 'refund', 'credits', -credits,
      'occurred_at', ledger.moment_of(occurred_at), 'budget_credits', null, 'note', 'answered with an error')))
    from ledger.entry
    where request_id = ${requestId} and type = 'charge'`
}, Effect.scoped)

const hold = async (ledger: LedgerAccess, { key }: Key, credits: number, nowMs = october) => {
  const view = await ledger.authenticate(key)
  if (view === undefined) return "unknown" as const
  const admission = await ledger.hold(view, endpoint, credits, nowMs)
  return "held" in admission ? admission.held : admission.refused
}
const admitted = async (ledger: LedgerAccess, key: Key, credits: number, nowMs = october): Promise<Held> => {
  const held = await hold(ledger, key, credits, nowMs)
  if (typeof held === "string") throw new Error(held)
  return held
}
const entriesOf = (ledger: LedgerAccess, { account_id }: Key) =>
  Stream.runCollect(ledger.administration.entriesOf(account_id))
const balanceOf = (ledger: LedgerAccess, { account_id }: Key) =>
  Effect.map(
    ledger.administration.listAccounts({}),
    (accounts) => accounts.find(({ id }) => id === account_id)?.balance_credits
  )

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe("servers that share a ledger", () => {
  it.live("start together on an empty database", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledgers = yield* Effect.all([open(url), open(url), open(url)], { concurrency: "unbounded" })
      for (const ledger of ledgers) assert.isTrue(ledger.writable())
    }).pipe(Effect.scoped)
  )

  it.live("see each other's holds, and the end of them", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([open(url), open(url)])
      const key = yield* keyOf(here)
      const held = yield* Effect.promise(() => admitted(here, key, 4_950))
      assert.strictEqual(yield* Effect.promise(() => hold(there, key, 100)), "insufficient_balance")
      held.release()
      yield* Effect.promise(() => here.authenticate("svc_data_nobody")) // goes with the release, or after it
      const second = yield* Effect.promise(() => admitted(there, key, 5_000))
      yield* Effect.promise(() => second.commit("req_1"))
      assert.strictEqual(yield* Effect.promise(() => hold(here, key, 10)), "insufficient_balance")
      assert.strictEqual(yield* balanceOf(here, key), 0)
    }).pipe(Effect.scoped)
  )

  it.live("decide a group call by call: a small call passes after a large one was refused", () =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* keyOf(ledger, 150)
      const view = yield* Effect.promise(() => ledger.authenticate(key.key))
      if (view === undefined) throw new Error("unknown key")
      const outcomes = yield* Effect.promise(() =>
        Promise.all([100, 100, 10, 5_000, 40, 1].map((credits) => ledger.hold(view, endpoint, credits, october)))
      )
      const names = outcomes.map((outcome) => ("held" in outcome ? "held" : outcome.refused))
      assert.deepStrictEqual(names, [
        "held",
        "spend_cap_reached",
        "held",
        "insufficient_balance",
        "held",
        "spend_cap_reached"
      ])
    }).pipe(Effect.scoped)
  )

  it.live("count a hold towards the month of its admission", () =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* keyOf(ledger, 100)
      const before = yield* Effect.promise(() => admitted(ledger, key, 100, october))
      const after = yield* Effect.promise(() => admitted(ledger, key, 100, november))
      yield* Effect.promise(() => Promise.all([after.commit("req_n"), before.commit("req_o")]))
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, october)), "spend_cap_reached")
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10, november)), "spend_cap_reached")
      const charges = (yield* entriesOf(ledger, key)).slice(1)
      assert.deepStrictEqual(charges.map(({ occurred_at, request_id }) => [request_id, occurred_at]).toSorted(), [
        ["req_n", "2026-11-01T00:00:00.000Z"],
        ["req_o", "2026-10-31T23:59:59.999Z"]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("take what a dead one held as free again", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* keyOf(ledger)
      const sql = yield* client(url)
      yield* sql`insert into ledger.server values ('dead', clock_timestamp() - interval '4 seconds')`
      yield* sql`insert into ledger.holding values (${key.account_id}, ${key.id}, 24321, 'dead', 5000)`
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 10)), "insufficient_balance")
      yield* sql`update ledger.server set seen_at = seen_at - interval '2 seconds' where id = 'dead'`
      const other = yield* open(url)
      yield* Effect.promise(async () => (await admitted(other, key, 5_000)).release())
    }).pipe(Effect.scoped)
  )

  it.live("go on under a new name when they were silent too long, and what they held is lost, not charged", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* keyOf(ledger)
      const held = yield* Effect.promise(() => admitted(ledger, key, 100))
      const sql = yield* client(url)
      yield* sql`delete from ledger.server`
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      assert.instanceOf(error, LedgerUnavailable)
      yield* Effect.promise(() => until(ledger.writable))
      yield* Effect.promise(async () => (await admitted(ledger, key, 5_000)).commit("req_2"))
      assert.deepStrictEqual(
        (yield* entriesOf(ledger, key)).map(({ request_id }) => request_id),
        [null, "req_2"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("leave nothing held behind when they stop", () =>
    Effect.gen(function* () {
      const url = yield* database
      const staying = yield* open(url)
      const key = yield* keyOf(staying)
      const scope = yield* Scope.make()
      const leaving = yield* Scope.provide(open(url), scope)
      yield* Effect.promise(() => admitted(leaving, key, 5_000))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => admitted(staying, key, 5_000))
    }).pipe(Effect.scoped)
  )
})

describe("an account that somebody has locked in the database", () => {
  it.live("is refused by itself, without being charged, and goes on when it is free", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const [stuck, other] = yield* Effect.all([keyOf(ledger), keyOf(ledger)])
      const before = yield* Effect.promise(() => admitted(ledger, stuck, 100))
      const sql = yield* client(url)
      const release = yield* Deferred.make<void>()
      const locked = yield* Deferred.make<void>()
      const locking = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`select * from ledger.account where id = ${stuck.account_id} for update`
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(release)
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(locked)
      const outcomes = yield* Effect.promise(() =>
        Promise.allSettled([
          before.commit("req_stuck"),
          hold(ledger, stuck, 100),
          ...Array.from({ length: 5 }, async (_, call) => (await admitted(ledger, other, 100)).commit(`req_${call}`))
        ])
      )
      assert.deepStrictEqual(
        outcomes.map(({ status }) => status),
        ["rejected", "rejected", ...Array.from({ length: 5 }, () => "fulfilled")]
      )
      assert.isTrue(ledger.writable())
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(locking)
      yield* Effect.promise(async () => {
        const patient = async (): Promise<Held> => admitted(ledger, stuck, 5_000).catch(patient)
        ;(await patient()).release()
      })
      assert.strictEqual((yield* entriesOf(ledger, stuck)).length, 1)
      assert.strictEqual((yield* entriesOf(ledger, other)).length, 6)
    }).pipe(Effect.scoped)
  )
})

describe("a request id that was charged already", () => {
  it.live("is not charged again, nor answered as if it were, on any server", () =>
    Effect.gen(function* () {
      const url = yield* database
      const [here, there] = yield* Effect.all([open(url), open(url)])
      const key = yield* keyOf(here)
      yield* Effect.promise(async () => (await admitted(here, key, 100)).commit("req_1"))
      for (const ledger of [here, there]) {
        const holds = yield* Effect.promise(() => Promise.all([0, 1, 2].map(() => admitted(ledger, key, 100))))
        const ids = [ledger === here ? "req_2" : "req_3", "req_1", ledger === here ? "req_4" : "req_5"]
        const ends = yield* Effect.promise(() =>
          Promise.allSettled(holds.map((held, index) => held.commit(ids[index] ?? "")))
        )
        assert.deepStrictEqual(
          ends.map(({ status }) => status),
          ["fulfilled", "rejected", "fulfilled"]
        )
      }
      assert.strictEqual(yield* balanceOf(here, key), 4_500)
      yield* Effect.promise(async () => (await admitted(there, key, 4_500)).release())
    }).pipe(Effect.scoped)
  )
})

describe("a charge whose answer is lost", () => {
  const behindWire = Effect.fnUntraced(function* () {
    const url = yield* database
    const wire = yield* Effect.acquireRelease(
      Effect.promise(() => breakableWire(url)),
      ({ close }) => Effect.promise(close)
    )
    const ledger = yield* open(wire.url)
    const key = yield* keyOf(ledger)
    const held = yield* Effect.promise(() => admitted(ledger, key, 100))
    return { wire, ledger, key, held, observer: yield* open(url) }
  })

  it.live("is found when the database is back in time, and charged once", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, wire } = yield* behindWire()
      wire.loseAnswers()
      const charged = held.commit("req_1")
      yield* Effect.promise(() => until(() => !ledger.writable()))
      const refused = yield* Effect.flip(
        Effect.tryPromise({ try: () => hold(ledger, key, 10), catch: (cause) => cause })
      )
      assert.instanceOf(refused, LedgerUnavailable) // at once, while the database is away
      wire.mend()
      yield* Effect.promise(() => charged)
      const requests = (yield* entriesOf(observer, key)).map(({ credits, request_id }) => [credits, request_id])
      assert.deepStrictEqual(requests, [
        [5_000, null],
        [-100, "req_1"]
      ])
      yield* Effect.promise(async () => (await admitted(ledger, key, 4_900)).release())
    }).pipe(Effect.scoped)
  )

  it.live("is answered with an error when the database stays away, and given back when it returns", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, wire } = yield* behindWire()
      wire.loseAnswers()
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      assert.instanceOf(error, LedgerUnavailable)
      assert.strictEqual(yield* balanceOf(observer, key), 4_900) // nobody can tell yet
      wire.mend()
      yield* Effect.promise(() => until(ledger.writable))
      const entries = yield* entriesOf(observer, key)
      assert.deepStrictEqual(
        entries.map(({ credits, request_id, type }) => [type, credits, request_id]),
        [
          ["grant", 5_000, null],
          ["charge", -100, "req_1"],
          ["refund", 100, "req_1"]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is given back by the next server when this one stops before the database returns", () =>
    Effect.gen(function* () {
      const url = yield* database
      const own = mkdtempSync(path.join(doubts, "own-"))
      const wire = yield* Effect.acquireRelease(
        Effect.promise(() => breakableWire(url)),
        ({ close }) => Effect.promise(close)
      )
      const scope = yield* Scope.make()
      const ledger = yield* Scope.provide(open(wire.url, own), scope)
      const key = yield* keyOf(ledger)
      const held = yield* Effect.promise(() => admitted(ledger, key, 100))
      wire.loseAnswers()
      const charged = Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      const error = yield* Effect.forkChild(charged)
      yield* Effect.promise(() => until(() => !ledger.writable()))
      yield* Scope.close(scope, Exit.void) // ends, although the database is away
      assert.match(String(yield* Fiber.join(error)), /should the call turn out to be charged, it gets a refund/)

      const next = yield* open(url, own)
      assert.strictEqual(yield* balanceOf(next, key), 5_000)
      const [summary] = yield* next.administration.listKeys({ account_id: key.account_id })
      assert.strictEqual(summary?.id, key.id)
      assert.deepStrictEqual(
        (yield* entriesOf(next, key)).map(({ credits, request_id, type }) => [type, credits, request_id]),
        [
          ["grant", 5_000, null],
          ["charge", -100, "req_1"],
          ["refund", 100, "req_1"]
        ]
      )
      const sql = yield* client(url)
      const [spent] = yield* sql<{ credits: bigint }>`select credits from ledger.spent_in_month`
      assert.strictEqual(Number(spent?.credits), 0) // a call that was not served spends nothing of the budget
    }).pipe(Effect.scoped)
  )

  it.live("that never reached the database costs nothing", () =>
    Effect.gen(function* () {
      const { held, key, ledger, observer, wire } = yield* behindWire()
      wire.cut()
      const charged = Effect.flip(Effect.tryPromise({ try: () => held.commit("req_1"), catch: (cause) => cause }))
      setTimeout(wire.mend, 500)
      assert.instanceOf(yield* charged, LedgerUnavailable)
      yield* Effect.promise(() => until(ledger.writable))
      assert.strictEqual((yield* entriesOf(observer, key)).length, 1)
      yield* Effect.promise(async () => (await admitted(ledger, key, 5_000)).release())
    }).pipe(Effect.scoped)
  )
})

describe("the entries in the database", () => {
  it.live("chain by the hash that the embedded ledger computes, whatever a note says", () =>
    Effect.gen(function* () {
      const ledger = yield* open(yield* database)
      const key = yield* keyOf(ledger)
      const notes = ["sorry", "ünïcödé 🧀", "a | b", "'; drop table ledger.entry --", "\\n"]
      for (const note of notes) {
        yield* ledger.administration.creditAccount({ account_id: key.account_id, credits: 1, note })
      }
      yield* Effect.promise(async () => {
        const holds = await Promise.all(Array.from({ length: 40 }, () => admitted(ledger, key, 100)))
        await Promise.all(holds.map((held, call) => held.commit(`req_${call}`)))
      })
      const entries = yield* entriesOf(ledger, key)
      let head: ChainHead = beginning
      for (const entry of entries) {
        assert.isUndefined(breakBefore(head, entry))
        head = entry
      }
      assert.strictEqual(entries.length, 46)
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )

  const damages = {
    "an amount": ["update ledger.entry set credits = credits - 1 where position = 3", /entry 3 .* the balance is/],
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
    "a usage": ["update ledger.usage_of_day set calls = calls + 1", /the usage of key key_\w+ on 2026-10-31 is not/],
    "an account of entries": [
      `insert into ledger.entry (account_id, position, type, occurred_at, credits, balance, hash)
      values ('acct_gone', 1, 'grant', now(), 0, 0, '')`,
      /1 entries are of account acct_gone, which is not there/
    ],
    "a key of a charge": [
      "update ledger.entry set key_id = 'key_gone' where position = 3",
      /entry 3 of account acct_\w+ was charged to key key_gone, which is no key of this account/
    ],
    "a charge without a key": [
      "update ledger.entry set key_id = null where position = 3",
      /entry 3 of account acct_\w+ was charged to key null, which is no key of this account/
    ],
    "the owner of a key": [
      `insert into ledger.account values ('acct_other', 'x', now(), 0, 0, '');
      update ledger.api_key set account_id = 'acct_other'`,
      /entry 4 of account acct_\w+ was charged to key key_\w+, which is no key of this account/
    ],
    "a balance": [
      "update ledger.account set balance = 5000",
      /all balances come to 5000 credits, and all entries to 4700/
    ],
    "a hold": [
      `insert into ledger.holding
      select account_id, api_key.id, 24400, server.id, 4701 from ledger.api_key, ledger.server`,
      /calls under way hold 4701 credits of account acct_\w+, whose balance is 4700/
    ],
    "the account of a hold": [
      `insert into ledger.account values ('acct_other', 'x', now(), 0, 0, '');
      insert into ledger.holding select 'acct_other', api_key.id, 24400, server.id, 0 from ledger.api_key, ledger.server`,
      /a call of key key_\w+ holds credits of account acct_other, which is not its account/
    ]
  } as const
  it.live.each(Object.entries(damages))(
    "are verified as a whole: %s that was changed is found",
    ([, [damage, found]]) =>
      Effect.gen(function* () {
        const url = yield* database
        const ledger = yield* open(url)
        const key = yield* keyOf(ledger)
        yield* Effect.promise(async () => {
          for (const id of ["a", "b", "c"]) await (await admitted(ledger, key, 100)).commit(`req_${id}`)
        })
        const sql = yield* client(url)
        for (const statement of damage.split(";")) yield* sql.unsafe(statement)
        const { problems } = yield* ledger.administration.verify({})
        assert.match(problems.join("\n"), found)
      }).pipe(Effect.scoped)
  )

  it.live("say less is spent and used when a call is given back, in its own month and on its own day", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* keyOf(ledger, 200)
      for (const id of ["req_1", "req_2"]) {
        yield* Effect.promise(async () => (await admitted(ledger, key, 100)).commit(id))
      }
      yield* giveBack(url, "req_1")
      const { account_id } = key
      const days = { account_id, from: "2026-10-01", to: "2026-12-31" }
      assert.deepStrictEqual(yield* ledger.administration.usage(days), [
        { day: "2026-10-31", key_id: key.id, endpoint, calls: 1, credits: 100 }
      ])
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      yield* Effect.promise(async () => (await admitted(ledger, key, 100)).commit("req_3"))
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "spend_cap_reached")
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      yield* open(url) // finds nothing wrong, either
    }).pipe(Effect.scoped)
  )

  const now = Date.now()
  const damagesAtStart = {
    "an entry that was changed": [
      "update ledger.entry set note = 'x' where position = 3",
      /entry 3 of account acct_\w+ is not what was written: its hash is another one/
    ],
    "an entry that is gone": [
      "delete from ledger.entry where position = 3",
      /entry 4 of account acct_\w+ follows its entry 2, so entries are missing/
    ],
    "a first entry that is gone": [
      "delete from ledger.entry where position = 1",
      /entry 2 of account acct_\w+ follows its entry 0, so entries are missing/
    ],
    "other spending this month": [
      "update ledger.spent_in_month set credits = credits - 1",
      /key key_\w+ has spent 299 credits this month, and its days come to 300/
    ]
  } as const
  it.live.each(Object.entries(damagesAtStart))("keep a server from starting: %s", ([, [damage, found]]) =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* keyOf(ledger)
      for (const id of ["a", "b", "c"]) {
        yield* Effect.promise(async () => (await admitted(ledger, key, 100, now)).commit(`req_${id}`))
      }
      yield* Effect.scoped(open(url))
      const sql = yield* client(url)
      yield* sql.unsafe(damage)
      const error = yield* Effect.flip(open(url))
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.match(error.message, found)
    }).pipe(Effect.scoped)
  )

  it.live("are read by a start up to the 1,000 newest of an account, and by a verification all", () =>
    Effect.gen(function* () {
      const url = yield* database
      const ledger = yield* open(url)
      const key = yield* keyOf(ledger)
      const sql = yield* client(url)
      const drafts = Array.from({ length: 1_100 }, (_, index) => ({
        ...{ account_id: key.account_id, type: "adjustment", occurred_at: "2026-10-31T00:00:00.000Z", key_id: null },
        ...{ endpoint: null, credits: index, budget_credits: null, request_id: null, note: "x" }
      }))
      yield* sql`select ledger.book(${JSON.stringify(drafts)}::text::jsonb)`
      yield* sql`update ledger.entry set note = 'y' where position = 101`
      yield* Effect.scoped(open(url))
      const { problems } = yield* ledger.administration.verify({})
      assert.match(problems.join("\n"), /^entry 101 of account acct_\w+ is not what was written/)
      yield* sql`update ledger.entry set note = 'y' where position = 102`
      const error = yield* Effect.flip(open(url))
      assert.match(error.message, /entry 102 of account acct_\w+ is not what was written/)
    }).pipe(Effect.scoped)
  )

  it.live("must end where their account stands, else no server starts", () =>
    Effect.gen(function* () {
      const url = yield* database
      const key = yield* Effect.scoped(Effect.flatMap(open(url), keyOf))
      const sql = yield* client(url)
      yield* sql`update ledger.account set balance = 6000`
      const error = yield* Effect.flip(open(url))
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.include(error.message, `account ${key.account_id} has 6000 credits after 1 entries`)
    }).pipe(Effect.scoped)
  )
})
