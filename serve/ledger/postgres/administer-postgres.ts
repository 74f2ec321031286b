/** The administration of the ledger in the database. A change applies to the next call of every server. */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { administer, summarizeKey } from "../administer.ts"
import { AccountSummary, type Administration, UsageOfDay } from "../administration.ts"
import { ApiKey, Entry, entryTypes } from "../chain/records.ts"
import { type Decision, keyNotFound, UnknownAccount } from "../rules/decisions.ts"
import { sumUsage, UsagePart } from "../summed-usage.ts"
import { monthOf } from "../utc-calendar.ts"
import { backUpDatabase } from "./backup.ts"
import { bookEntries, changeAccounts } from "./changes.ts"
import { databaseUnavailable } from "./sql/database.ts"
import { accountRow, entryRow, keyRow } from "./sql/sql-expressions.ts"
import { selectSummedUsage, selectUsage } from "./usage.ts"
import { verifyDatabase } from "./verify-database.ts"

const KeyAndMonth = Schema.Struct({ ...ApiKey.fields, spent: Schema.Int })
const Count = Schema.Struct({ count: Schema.Int })
const AccountId = Schema.Struct({ account_id: Schema.String })

/** A page of entries is about 400 kB of JSON. */
const entriesPerPage = 1_000

/** `onChanged` is called after each change. */
export const administerPostgres = (
  sql: PgClient.PgClient,
  onChanged: () => void = () => {}
): Administration["Service"] => {
  /** One `value` per row. The database builds the JSON, so numbers and timestamps have the same format everywhere. */
  const queryAll = <S extends Schema.Constraint>(row: S, statement: string, params: ReadonlyArray<unknown> = []) =>
    sql.unsafe<{ value: unknown }>(statement, params).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows.map(({ value }) => value))),
      Effect.mapError(databaseUnavailable("be read"))
    )
  const run = (statement: string, params: ReadonlyArray<unknown>) =>
    Effect.mapError(sql.unsafe(statement, params), databaseUnavailable("be written"))

  const accountWithBalance = `${accountRow} || jsonb_build_object('balance_credits', balance)`
  const readAccounts = (condition: string, params: ReadonlyArray<string> = []) =>
    queryAll(
      AccountSummary,
      `select ${accountWithBalance} as value from ledger.account where ${condition} order by created_at, id`,
      params
    )
  const keyWithSpending = `${keyRow} || jsonb_build_object('spent', coalesce(spent.credits, 0))`
  const readKeys = (condition: string, value: string, now: number) =>
    queryAll(
      KeyAndMonth,
      `select ${keyWithSpending} as value
      from ledger.api_key as key
      left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = $2
      where ${condition}
      order by key.created_at, key.id`,
      [value, monthOf(now)]
    )
  const readKeySummaries = (condition: string, value: string, now: number) =>
    Effect.map(readKeys(condition, value, now), (keys) =>
      keys.map(({ spent, ...record }) => summarizeKey(record, spent))
    )

  const accountOfKey = "select jsonb_build_object('account_id', account_id) as value from ledger.api_key where id = $1"
  const keyForUpdate = `select ${keyRow} as value from ledger.api_key as key where id = $1 for update`
  const unrevokedKeys = `select jsonb_build_object('count', count(*)) as value
    from ledger.api_key
    where account_id = $1 and revoked_at is null`
  const accountOfBooking = `select jsonb_build_object('account_id', account_id) as value
    from ledger.entry
    where request_id = $1 and type = $2`

  const write = Effect.fnUntraced(function* ({ accounts, entries, keys }: Decision) {
    for (const { created_at, id, name, suspended_at } of accounts) {
      yield* run(
        `insert into ledger.account (id, name, created_at, suspended_at, position, balance, hash)
        values ($1, $2, $3::text::timestamptz, $4::text::timestamptz, 0, 0, '')
        on conflict (id) do update set suspended_at = excluded.suspended_at`,
        [id, name, created_at, suspended_at]
      )
    }
    for (const record of keys) {
      yield* run(
        `insert into ledger.api_key select * from jsonb_populate_record(null::ledger.api_key, $1::text::jsonb)
        on conflict (id) do update set ${Object.keys(ApiKey.fields)
          .map((column) => `${column} = excluded.${column}`)
          .join(", ")}`,
        [JSON.stringify(record)]
      )
    }
    if (entries.length > 0) yield* Effect.mapError(bookEntries(sql, entries), databaseUnavailable("be written"))
  })

  return administer({
    account: (id) =>
      Effect.flatMap(readAccounts("id = $1", [id]), ([account]) =>
        account === undefined ? Effect.fail(new UnknownAccount({ id })) : Effect.succeed(account)
      ),
    accounts: readAccounts("true"),
    keys: (accountId, now) => readKeySummaries("key.account_id = $1", accountId, now),
    key: (id, now) =>
      Effect.flatMap(readKeySummaries("key.id = $1", id, now), ([key]) =>
        key === undefined ? Effect.fail(keyNotFound(id)) : Effect.succeed(key)
      ),
    accountOfKey: (id) =>
      Effect.flatMap(queryAll(AccountId, accountOfKey, [id]), ([key]) =>
        key === undefined ? Effect.fail(keyNotFound(id)) : Effect.succeed(key.account_id)
      ),
    keyRecord: (id) =>
      Effect.flatMap(queryAll(ApiKey, keyForUpdate, [id]), ([key]) =>
        key === undefined ? Effect.fail(keyNotFound(id)) : Effect.succeed(key)
      ),
    countUnrevokedKeys: (accountId) =>
      Effect.map(queryAll(Count, unrevokedKeys, [accountId]), ([valid]) => valid?.count ?? 0),
    accountOfBooking: (type, reference) =>
      Effect.map(queryAll(AccountId, accountOfBooking, [reference, type]), ([entry]) => entry?.account_id),
    /** One transaction, which has locked these accounts. */
    change: (accountIds, work) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        changeAccounts(sql, accountIds, work(now)).pipe(
          Effect.catchTag("SqlError", (error) => Effect.fail(databaseUnavailable("be written")(error))),
          Effect.ensuring(Effect.sync(onChanged)) // a change whose answer was lost may have been made
        )
      ),
    write,
    usage: (query) => queryAll(UsageOfDay, ...selectUsage(query)),
    summedUsage: (query) => Effect.map(queryAll(UsagePart, ...selectSummedUsage(query)), sumUsage),
    entriesOf: (accountId) =>
      Stream.paginate(0, (after: number) =>
        Effect.map(
          queryAll(
            Entry,
            `select ${entryRow} as value
            from ledger.entry
            where account_id = $1 and position > $2
            order by position
            limit ${entriesPerPage}`,
            [accountId, after]
          ),
          (page) => [page, Option.fromUndefinedOr(page.at(-1)?.position)] as const
        )
      ),
    entriesBefore: ({ account_id, before, limit, types }) => {
      // an index contains all entries except charges; otherwise a few payments cost a scan of millions of entries
      const exceptCharges = types === undefined || types.includes("charge") ? "" : "and type <> 'charge'"
      return queryAll(
        Entry,
        `select ${entryRow} as value
        from ledger.entry
        where account_id = $1 and position < $2 and type = any (string_to_array($3, ' ')) ${exceptCharges}
        order by position desc
        limit $4`,
        [account_id, before ?? Number.MAX_SAFE_INTEGER, (types ?? entryTypes).join(" "), limit]
      )
    },
    verify: verifyDatabase(sql),
    backup: (file) => backUpDatabase(sql, file)
  })
}
