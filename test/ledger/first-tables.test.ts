/** A database of the first version, whose balances could not be below 0: a newer server brings its tables up to date. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { admitted, client, database, endpoint, keyOf, open } from "./shared-ledger.ts"

/** What the tables were then, beside what has stayed. */
const first = [
  "drop table ledger.usage_of_month, ledger.usage_of_endpoint",
  "drop index ledger.entry_but_charge",
  "alter table ledger.account drop column money_out",
  "alter table ledger.account add constraint account_balance_check check (balance >= 0)",
  "alter table ledger.entry add constraint entry_balance_check check (balance >= 0)",
  `create or replace function ledger.book(drafts jsonb) returns void language plpgsql as $$
  begin
    raise exception 'the first version';
  end
  $$`,
  "delete from ledger.migration where migration_id > 1"
]

/** The function of the version before, which knew no sums of usage. */
const secondBook = readFileSync(
  new URL(import.meta.resolve("@larder/serve/ledger/postgres/functions/book.sql")),
  "utf8"
).replace(
  /, by_month as \([\s\S]*?\n {2}\)\n {2}insert into ledger.usage_of_day/,
  "\n  insert into ledger.usage_of_day"
)

describe("a database of the first version", () => {
  it.live("allows a balance below 0 after a newer server has opened it, and keeps its usage", () =>
    Effect.gen(function* () {
      const url = yield* database
      const key = yield* Effect.gen(function* () {
        const ledger = yield* open(url)
        const key = yield* keyOf(ledger)
        yield* Effect.promise(async () => (await admitted(ledger, key, 100)).commit("req_1"))
        return key
      }).pipe(Effect.scoped)
      const sql = yield* client(url)
      for (const statement of first) yield* sql.unsafe(statement)

      const [ledger] = yield* Effect.all([open(url), open(url), open(url)], { concurrency: 3 })
      const { account_id } = key
      const refund = { account_id, type: "refund", credits: -5_000, reference: "re_1", note: "money went out" } as const
      const answer = yield* ledger.administration.book(refund)
      assert.deepStrictEqual(answer, { booked: true, balance_credits: -100 })
      assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      assert.deepStrictEqual(yield* sql`select migration_id from ledger.migration order by 1`, [
        { migration_id: 1 },
        { migration_id: 2 },
        { migration_id: 3 }
      ])
      // what was used before is in the sums, too
      const days = { account_id, from: "2026-10-01", to: "2026-10-31" }
      assert.deepStrictEqual(yield* ledger.administration.summedUsage(days), {
        by_day: [{ name: "2026-10-31", calls: 1, credits: 100 }],
        by_key: [{ name: key.id, calls: 1, credits: 100 }],
        by_endpoint: [{ name: endpoint, calls: 1, credits: 100 }]
      })
    }).pipe(Effect.scoped)
  )

  it.live("adds up usage while a server that was there before goes on charging", () =>
    Effect.gen(function* () {
      const url = yield* database
      const older = yield* open(url)
      const key = yield* keyOf(older)
      const sql = yield* client(url)
      for (const statement of [...first.slice(0, 1), secondBook, "delete from ledger.migration where migration_id > 2"])
        yield* sql.unsafe(statement)
      let isMigrated = false
      const charging = Effect.promise(async () => {
        for (let call = 0; call < 20 || !isMigrated; call++) await (await admitted(older, key, 1)).commit(`req_${call}`)
      })
      const migrating = Effect.map(open(url), () => {
        isMigrated = true
      })
      yield* Effect.all([charging, migrating], { concurrency: 2 })
      assert.deepStrictEqual((yield* older.administration.verify({})).problems, [])
      assert.strictEqual((yield* sql`select from ledger.usage_of_month`).length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("counts money that went out before the update", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { account_id } = yield* Effect.scoped(Effect.flatMap(open(url), keyOf))
      const sql = yield* client(url)
      const draft = { account_id, type: "adjustment", occurred_at: "2026-10-31T00:00:00.000Z", credits: -10, note: "x" }
      yield* sql`select ledger.book(${JSON.stringify([draft])}::text::jsonb)`
      for (const statement of first) yield* sql.unsafe(statement)
      const { administration } = yield* open(url)
      assert.deepStrictEqual((yield* administration.verify({})).problems, [])
    }).pipe(Effect.scoped)
  )
})
