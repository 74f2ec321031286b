/** Carries out what an operator asks, in the database: a change is in force for the next call of every server. */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { fingerprint, last4, newApiKey } from "../../access/api-key.ts"
import { AccountSummary, Administration, UsageOfDay } from "../administration.ts"
import {
  creditAccount,
  type Decision,
  editKey,
  issueKey,
  openAccount,
  revokeKey,
  UnknownAccount,
  unknownKey
} from "../decisions.ts"
import { monthOf } from "../moments.ts"
import { usdOf } from "../money.ts"
import { newId } from "../new-id.ts"
import { ApiKey, Entry } from "../records.ts"
import { backUp } from "./backup.ts"
import { unavailable } from "./database.ts"
import { verify } from "./verification.ts"

const KeyAndSpending = Schema.Struct({ ...ApiKey.fields, spent: Schema.Int })

/** A page of entries is a JSON text of some 400 kB. */
const entriesPerPage = 1_000

export const administer = (sql: PgClient.PgClient): Administration["Service"] => {
  /** One row a value: the database makes the JSON, so that numbers and moments have one spelling everywhere. */
  const all = <S extends Schema.Constraint>(row: S, statement: string, params: ReadonlyArray<unknown> = []) =>
    sql.unsafe<{ value: unknown }>(statement, params).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows.map(({ value }) => value))),
      Effect.mapError(unavailable("be read"))
    )
  const run = (statement: string, params: ReadonlyArray<unknown>) =>
    Effect.mapError(sql.unsafe(statement, params), unavailable("be written"))

  const accountRow = `jsonb_build_object('id', id, 'name', name, 'created_at', ledger.moment_of(created_at),
    'balance_credits', balance)`
  const account = (id: string) =>
    Effect.flatMap(
      all(AccountSummary, `select ${accountRow} as value from ledger.account where id = $1`, [id]),
      ([found]) => (found === undefined ? Effect.fail(new UnknownAccount({ id })) : Effect.succeed(found))
    )

  const keyRow = `to_jsonb(key) || jsonb_build_object('created_at', ledger.moment_of(key.created_at),
    'revoked_at', ledger.moment_of(key.revoked_at), 'spent', coalesce(spent.credits, 0))`
  const keysWhere = (condition: string, value: string, now: number, lock = "") =>
    all(
      KeyAndSpending,
      `select ${keyRow} as value
      from ledger.api_key as key
      left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = $2
      where ${condition}
      order by key.created_at, key.id ${lock}`,
      [value, monthOf(now)]
    )
  const key = (id: string, now: number, lock = "") =>
    Effect.flatMap(keysWhere("key.id = $1", id, now, lock), ([found]) =>
      found === undefined ? Effect.fail(unknownKey(id)) : Effect.succeed(found)
    )
  const summary = ({ budget_credits, revision: _, sha256: __, spent, ...record }: typeof KeyAndSpending.Type) => ({
    ...record,
    budget_usd: usdOf(budget_credits),
    spent_usd: usdOf(spent)
  })

  const write = Effect.fnUntraced(function* ({ accounts, entries, keys }: Decision) {
    for (const { created_at, id, name } of accounts) {
      yield* run(
        "insert into ledger.account (id, name, created_at, position, balance, hash) values ($1, $2, $3::text::timestamptz, 0, 0, '')",
        [id, name, created_at]
      )
    }
    for (const record of keys) {
      yield* run(
        `insert into ledger.api_key select * from jsonb_populate_record(null::ledger.api_key, $1::text::jsonb)
        on conflict (id) do update set name = excluded.name, scopes = excluded.scopes,
          budget_credits = excluded.budget_credits, revoked_at = excluded.revoked_at, revision = excluded.revision`,
        [JSON.stringify(record)]
      )
    }
    if (entries.length > 0) yield* run("select ledger.book($1::text::jsonb)", [JSON.stringify(entries)])
  })

  /** A command that loses its connection half-way must not keep an account locked, and it waits for none for long. */
  const limits =
    "select set_config('idle_in_transaction_session_timeout', '2s', true), set_config('lock_timeout', '5s', true)"

  /** Decides and writes in one transaction. */
  const change = <A, E>(work: (now: number) => Effect.Effect<A, E>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      sql
        .withTransaction(Effect.andThen(run(limits, []), work(now)))
        .pipe(Effect.catchTag("SqlError", (error) => Effect.fail(unavailable("be written")(error))))
    )

  return Administration.of({
    createAccount: Effect.fn("Administration.createAccount")(function* ({ name }) {
      const id = yield* newId("acct_")
      return yield* change((now) => Effect.andThen(write(openAccount(id, name, now)), account(id)))
    }),
    listAccounts: () =>
      all(AccountSummary, `select ${accountRow} as value from ledger.account order by created_at, id`),
    creditAccount: Effect.fn("Administration.creditAccount")(function* ({ account_id, credits, note }) {
      return yield* change((now) =>
        account(account_id).pipe(
          Effect.andThen(write(creditAccount(account_id, credits, note, now))),
          Effect.andThen(account(account_id))
        )
      )
    }),
    createKey: Effect.fn("Administration.createKey")(function* ({ account_id, budget_credits, name, scopes }) {
      const id = yield* newId("key_")
      const secret = yield* Effect.sync(newApiKey)
      const record = { id, account_id, name, scopes, budget_credits, sha256: fingerprint(secret), last4: last4(secret) }
      return yield* change((now) =>
        account(account_id).pipe(
          Effect.andThen(write(issueKey(record, now))),
          Effect.andThen(key(id, now)),
          Effect.map((issued) => ({ key: secret, ...summary(issued) }))
        )
      )
    }),
    listKeys: Effect.fn("Administration.listKeys")(function* ({ account_id }) {
      yield* account(account_id)
      const now = yield* Clock.currentTimeMillis
      return Array.from(yield* keysWhere("key.account_id = $1", account_id, now), summary)
    }),
    editKey: Effect.fn("Administration.editKey")(function* ({ key_id, ...changes }) {
      return yield* change((now) =>
        key(key_id, now, "for update of key").pipe(
          Effect.flatMap(({ spent: _, ...record }) => Effect.fromResult(editKey(record, changes))),
          Effect.flatMap(write),
          Effect.andThen(Effect.map(key(key_id, now), summary))
        )
      )
    }),
    revokeKey: Effect.fn("Administration.revokeKey")(function* ({ key_id }) {
      return yield* change((now) =>
        key(key_id, now, "for update of key").pipe(
          Effect.flatMap(({ spent: _, ...record }) => write(revokeKey(record, now))),
          Effect.andThen(Effect.map(key(key_id, now), summary))
        )
      )
    }),
    entriesOf: (accountId) =>
      Stream.unwrap(
        Effect.as(
          account(accountId),
          Stream.paginate(0, (after: number) =>
            Effect.map(
              all(
                Entry,
                `select to_jsonb(entry) || jsonb_build_object('occurred_at', ledger.moment_of(occurred_at)) as value
                from ledger.entry
                where account_id = $1 and position > $2
                order by position
                limit ${entriesPerPage}`,
                [accountId, after]
              ),
              (page) => [page, Option.fromUndefinedOr(page.at(-1)?.position)] as const
            )
          )
        )
      ),
    usage: Effect.fn("Administration.usage")(function* ({ account_id, from, to }) {
      yield* account(account_id)
      return yield* all(
        UsageOfDay,
        `select jsonb_build_object('day', day, 'key_id', key_id, 'endpoint', endpoint, 'calls', calls, 'credits', credits)
          as value
        from ledger.usage_of_day
        where account_id = $1 and day between $2::text::date and $3::text::date
        order by day, key_id, endpoint`,
        [account_id, from, to]
      )
    }),
    verify: () => verify(sql),
    backup: ({ file }) => backUp(sql, file)
  })
}
