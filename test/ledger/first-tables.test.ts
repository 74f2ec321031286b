/** A database of the first version, whose balances could not be below 0: a newer server brings its tables up to date. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { admitted, client, database, keyOf, open } from "./shared-ledger.ts"

/** What the tables were then, beside what has stayed. */
const first = [
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

describe("a database of the first version", () => {
  it.live("takes money out below 0 once a newer server has opened it, and keeps what it has", () =>
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
        { migration_id: 2 }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("counts money that has gone out of it before", () =>
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
