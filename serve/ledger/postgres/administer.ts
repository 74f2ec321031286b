/** Carries out an operator's requests in the database. A change applies to the next call of every server. */
import type { PgClient } from "@effect/sql-pg"
import { Day } from "@larder/schemas"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { AccountSummary, Administration, Booking, UsageOfDay } from "../administration.ts"
import { fingerprint, last4, newApiKey } from "../api-key.ts"
import { ApiKey, Entry, entryTypes } from "../chain/records.ts"
import { dateOfDay, dayOf, mondayOf, monthOfDay, timestampOf } from "../moments.ts"
import { newId } from "../random-text.ts"
import {
  bookOnce,
  creditAccount,
  type Decision,
  editKey,
  issueKey,
  nothing,
  openAccount,
  revokeKey,
  rotateKey,
  UnknownAccount,
  unknownKey
} from "../rules/decisions.ts"
import { keySummary, type Spent } from "../summaries.ts"
import { PartOfUsage, sumUp } from "../summed-usage.ts"
import { backUpDatabase } from "./backup.ts"
import { expireCredits, expireCreditsOf } from "./leases/expired-credits.ts"
import { bookEntries, whileFree } from "./leases/leases.ts"
import { databaseUnavailable } from "./sql/database.ts"
import { texts } from "./sql/parameters.ts"
import { accountRow, entryRow, keyRow, momentOf } from "./sql/sql-text.ts"
import { summedUsageAsked, usageAsked } from "./usage.ts"
import { verifyDatabase } from "./verification.ts"

const KeyAndMonth = Schema.Struct({ ...ApiKey.fields, spent: Schema.Int })
const SpentOfDay = Schema.Struct({ key_id: Schema.String, day: Day, credits: Schema.Int })
interface KeyAndSpending extends ApiKey {
  readonly spent: Spent
}

const decodeBooking = Schema.decodeEffect(Booking)
const Count = Schema.Struct({ count: Schema.Int })
const AccountOfEntry = Schema.Struct({ account_id: Schema.String })

/** A list of accounts waits at most this long for the removal of expired credits. */
const longestExpiry = "2 seconds"

/** A page of entries is about 400 kB of JSON. */
const entriesPerPage = 1_000

export const administerPostgres = (sql: PgClient.PgClient): Administration["Service"] => {
  /** One `value` per row. The database builds the JSON, so numbers and timestamps are spelled the same everywhere. */
  const all = <S extends Schema.Constraint>(row: S, statement: string, params: ReadonlyArray<unknown> = []) =>
    sql.unsafe<{ value: unknown }>(statement, params).pipe(
      Effect.flatMap((rows) => Schema.decodeUnknownEffect(Schema.Array(row))(rows.map(({ value }) => value))),
      Effect.mapError(databaseUnavailable("be read"))
    )
  const run = (statement: string, params: ReadonlyArray<unknown>) =>
    Effect.mapError(sql.unsafe(statement, params), databaseUnavailable("be written"))

  const expiring = `
    select coalesce(jsonb_agg(jsonb_build_object('credits', credits_left, 'expires_at', ${momentOf("expires_at")})
      order by expires_at, position), '[]')
    from ledger.expiring_grant
    where account_id = account.id and credits_left > 0 and expires_at > $1::text::timestamptz`
  const accountWithBalance = `${accountRow} || jsonb_build_object('balance_credits', balance, 'expiring', (${expiring}))`
  const accountsWhere = (condition: string, params: ReadonlyArray<string> = []) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      all(
        AccountSummary,
        `select ${accountWithBalance} as value from ledger.account where ${condition} order by created_at, id`,
        [timestampOf(now), ...params]
      )
    )
  const account = (id: string) =>
    Effect.flatMap(accountsWhere("id = $2", [id]), ([found]) =>
      found === undefined ? Effect.fail(new UnknownAccount({ id })) : Effect.succeed(found)
    )

  const keyWithSpending = `${keyRow} || jsonb_build_object('spent', coalesce(spent.credits, 0))`
  const readKeys = (condition: string, value: string, now: number, lock: string) =>
    all(
      KeyAndMonth,
      `select ${keyWithSpending} as value
      from ledger.api_key as key
      left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = $2
      where ${condition}
      order by key.created_at, key.id ${lock}`,
      [value, monthOfDay(dayOf(now))]
    )
  /** For keys of one account, in the week of a day. Reads nothing if no key has a daily or weekly budget. */
  const spentOfDays = (keys: ReadonlyArray<ApiKey>, today: number) => {
    const limited = keys.filter((one) => one.daily_budget_credits !== null || one.weekly_budget_credits !== null)
    const monday = mondayOf(today)
    if (limited.length === 0) return Effect.succeed([])
    return all(
      SpentOfDay,
      `select jsonb_build_object('key_id', key_id, 'day', day, 'credits', sum(credits)) as value
      from ledger.usage_of_day
      where account_id = $1 and day between $2::text::date and $3::text::date and key_id = any ($4::text[])
      group by key_id, day`,
      [limited[0]?.account_id, dateOfDay(monday), dateOfDay(monday + 6), texts(limited.map(({ id }) => id))]
    )
  }
  const keysWhere = Effect.fnUntraced(function* (condition: string, value: string, now: number, lock = "") {
    const keys = yield* readKeys(condition, value, now, lock)
    const today = dayOf(now)
    const ofKeys = Map.groupBy(yield* spentOfDays(keys, today), ({ key_id }) => key_id)
    return keys.map(({ spent, ...record }) => {
      const ofKey = ofKeys.get(record.id) ?? []
      const sumOf = (days: typeof ofKey) => days.reduce((sum, { credits }) => sum + credits, 0)
      const ofToday = ofKey.filter(({ day }) => day === dateOfDay(today))
      return {
        ...record,
        spent: {
          month: spent,
          week: record.weekly_budget_credits === null ? null : sumOf(ofKey),
          day: record.daily_budget_credits === null ? null : sumOf(ofToday)
        }
      }
    })
  })
  const key = (id: string, now: number, lock = "") =>
    Effect.flatMap(keysWhere("key.id = $1", id, now, lock), ([found]) =>
      found === undefined ? Effect.fail(unknownKey(id)) : Effect.succeed(found)
    )
  const summary = ({ spent, ...record }: KeyAndSpending) => keySummary(record, spent)

  const validKeys = `select jsonb_build_object('count', count(*)) as value
    from ledger.api_key
    where account_id = $1 and revoked_at is null`
  const accountOfBooking = `select jsonb_build_object('account_id', account_id) as value
    from ledger.entry
    where request_id = $1 and type = $2`

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
        on conflict (id) do update set ${Object.keys(ApiKey.fields)
          .map((column) => `${column} = excluded.${column}`)
          .join(", ")}`,
        [JSON.stringify(record)]
      )
    }
    if (entries.length > 0) yield* Effect.mapError(bookEntries(sql, entries), databaseUnavailable("be written"))
  })

  /** Decides and writes in one transaction, while no server decides calls of these accounts. */
  const change = <A, E>(accounts: ReadonlyArray<string>, work: (now: number) => Effect.Effect<A, E>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      whileFree(sql, accounts, work(now)).pipe(
        Effect.catchTag("SqlError", (error) => Effect.fail(databaseUnavailable("be written")(error)))
      )
    )

  /** Runs before a balance is returned. If it fails, the credits are removed later; no call can spend them. */
  const expire = (id: string) => Effect.ignore(expireCreditsOf(sql, id))
  const expireAll = Effect.ignore(Effect.timeout(expireCredits(sql), longestExpiry))

  const changeKey = <A, E>(id: string, work: (record: KeyAndSpending, now: number) => Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const { account_id } = yield* key(id, yield* Clock.currentTimeMillis)
      return yield* change([account_id], (now) =>
        key(id, now, "for update of key").pipe(
          Effect.flatMap((record) => work(record, now)),
          Effect.andThen(Effect.map(key(id, now), summary))
        )
      )
    })

  return Administration.of({
    createAccount: Effect.fn("Administration.createAccount")(function* ({ name }) {
      const id = yield* newId("acct_")
      return yield* change([], (now) => Effect.andThen(write(openAccount(id, name, now)), account(id)))
    }),
    listAccounts: () => Effect.andThen(expireAll, accountsWhere("true")),
    creditAccount: Effect.fn("Administration.creditAccount")(function* ({
      account_id,
      expires_at = null,
      ...credited
    }) {
      yield* expire(account_id)
      return yield* change([account_id], (now) =>
        account(account_id).pipe(
          Effect.flatMap((before) => Effect.fromResult(creditAccount(before, { ...credited, expires_at }, now))),
          Effect.flatMap(write),
          Effect.andThen(account(account_id))
        )
      )
    }),
    account: ({ account_id }) => Effect.andThen(expire(account_id), account(account_id)),
    book: Effect.fn("Administration.book")(function* (asked) {
      const booking = yield* Effect.orDie(decodeBooking(asked)) // callers in this process have checked it
      const { account_id, reference, type } = booking
      yield* expire(account_id)
      return yield* change([account_id], (now) =>
        Effect.gen(function* () {
          const booked = yield* account(account_id)
          const [before] = yield* all(AccountOfEntry, accountOfBooking, [reference, type])
          const decision = yield* Effect.fromResult(bookOnce(booked, booking, before?.account_id, now))
          yield* write(decision)
          const { balance_credits } = yield* account(account_id)
          return { booked: decision !== nothing, balance_credits }
        })
      )
    }),
    createKey: Effect.fn("Administration.createKey")(function* ({ account_id, ...settings }) {
      const id = yield* newId("key_")
      const secret = yield* Effect.sync(newApiKey)
      const asked = { ...settings, id, account_id, sha256: fingerprint(secret), last4: last4(secret) }
      return yield* change([account_id], (now) =>
        Effect.gen(function* () {
          yield* account(account_id)
          const [valid] = yield* all(Count, validKeys, [account_id])
          yield* write(yield* Effect.fromResult(issueKey(asked, valid?.count ?? 0, now)))
          return { key: secret, ...summary(yield* key(id, now)) }
        })
      )
    }),
    listKeys: Effect.fn("Administration.listKeys")(function* ({ account_id }) {
      yield* account(account_id)
      const now = yield* Clock.currentTimeMillis
      return Array.from(yield* keysWhere("key.account_id = $1", account_id, now), summary)
    }),
    editKey: Effect.fn("Administration.editKey")(function* ({ key_id, ...changes }) {
      return yield* changeKey(key_id, ({ spent: _, ...record }, now) =>
        Effect.flatMap(Effect.fromResult(editKey(record, changes, now)), write)
      )
    }),
    rotateKey: Effect.fn("Administration.rotateKey")(function* ({ key_id, overlap_hours }) {
      const secret = yield* Effect.sync(newApiKey)
      const made = { sha256: fingerprint(secret), last4: last4(secret) }
      const rotated = yield* changeKey(key_id, ({ spent: _, ...record }, now) =>
        Effect.flatMap(Effect.fromResult(rotateKey(record, made, overlap_hours, now)), write)
      )
      return { key: secret, ...rotated }
    }),
    revokeKey: Effect.fn("Administration.revokeKey")(function* ({ key_id }) {
      return yield* changeKey(key_id, ({ spent: _, ...record }, now) => write(revokeKey(record, now)))
    }),
    entriesOf: (accountId) =>
      Stream.unwrap(
        Effect.as(
          Effect.andThen(expire(accountId), account(accountId)),
          Stream.paginate(0, (after: number) =>
            Effect.map(
              all(
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
          )
        )
      ),
    entriesBefore: Effect.fn("Administration.entriesBefore")(function* ({ account_id, before, limit, types }) {
      yield* expire(account_id)
      yield* account(account_id)
      // an index contains all entries except charges; without it, a few payments would cost a scan of millions of
      // entries
      const isRare = types === undefined || types.includes("charge") ? "" : "and type <> 'charge'"
      return yield* all(
        Entry,
        `select ${entryRow} as value
        from ledger.entry
        where account_id = $1 and position < $2 and type = any (string_to_array($3, ' ')) ${isRare}
        order by position desc
        limit $4`,
        [account_id, before ?? Number.MAX_SAFE_INTEGER, (types ?? entryTypes).join(" "), limit]
      )
    }),
    usage: Effect.fn("Administration.usage")(function* (asked) {
      yield* account(asked.account_id)
      const { params, statement } = usageAsked(asked)
      return yield* all(UsageOfDay, statement, params)
    }),
    summedUsage: Effect.fn("Administration.summedUsage")(function* (asked) {
      yield* account(asked.account_id)
      const { params, statement } = summedUsageAsked(asked)
      return sumUp(yield* all(PartOfUsage, statement, params))
    }),
    verify: ({ anchor }) => verifyDatabase(sql, anchor),
    backup: ({ file }) => Effect.andThen(expireAll, backUpDatabase(sql, file))
  })
}
