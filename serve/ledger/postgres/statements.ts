/**
 * What a server asks of the database. Charges are one statement, which writes only where the database is as the server knows
 * it. What has to be decided there is one transaction: it locks accounts in the order of their ids, reads, lets `judge`
 * decide, and writes.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { ChainHead } from "../chain.ts"
import { LedgerUnavailable } from "../errors.ts"
import { dateOfDay, daysOfWeeks, monthOfDay } from "../moments.ts"
import { Account, ApiKey, type Entry } from "../records.ts"
import { unavailable, wasRolledBack } from "./database.ts"
import { booleans, integers, texts } from "./parameters.ts"
import { type Ask, makePipeline, type Statement } from "./pipeline.ts"
import { accountRow, keyRow, momentOf } from "./sql-text.ts"
import { type Holding, type Moved, movedBy, rowParameters, rowsOf, writtenWhere } from "./written.ts"

/** Milliseconds. A statement that takes longer is given up: callers wait for it. */
const longestStatement = 5_000
/** A server that stands still between reading and writing must not keep accounts locked; callers of others wait for two seconds. */
const longestPause = "1500ms"
/** Servers tell each other here that a lease is asked for, or free. */
export const channel = "larder_ledger"

/** The name under which the database knows a server, and how many groups it has decided there. */
export interface Member {
  readonly id: string
  readonly groups: number
}

/** A group of charges, none of which needs a decision. */
export interface Charged {
  readonly entries: ReadonlyArray<Entry>
  /** Where the accounts of the entries stand before them, by id. */
  readonly before: ReadonlyMap<string, ChainHead>
  readonly holdings: ReadonlyArray<Holding>
}

/** `moved`: an account is not as the server knows it, and nothing was written. */
export type Written =
  | { readonly outcome: "not a member" }
  | { readonly outcome: "moved" }
  | { readonly outcome: "written"; readonly asked: ReadonlyArray<string> }

/** Overrides the default of the database or the role: a charge is on the disk before its answer leaves. */
export const durably =
  "set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true)"
/** A hold need not survive a crash of the database: its server joins again then. */
const lightly = "set_config('synchronous_commit', 'off', true)"

/** In the statement that writes, where it is known whether there are charges. */
const asCharged = (charges: string) => `case when ${charges} then ${durably} else ${lightly} end`

const isMember = (timeout: string, more: string) => `
  me as materialized (
    select set_config('lock_timeout', ${timeout}, true), ${more},
      set_config('idle_in_transaction_session_timeout', '${longestPause}', true)
    from ledger.server
    where id = $1 and groups = $2::bigint
    for key share
  )`

/** Dividing by nothing ends the statement: an account that was locked as the server knows it cannot fail to move. */
const write = `
  with ${isMember("$5", asCharged("cardinality($3::text[]) > 0"))}, locked as materialized (
    select id, hash, leased_by, lease_asked
    from ledger.account
    where id = any ($3::text[]) and exists (select from me)
    order by id
    for no key update
  ), fence as materialized (
    select count(*) = cardinality($3::text[]) and exists (select from me) as holds,
      coalesce(array_agg(id) filter (where lease_asked), '{}') as asked
    from locked
    join unnest($3::text[], $4::text[]) as known (id, hash) using (id, hash)
    where coalesce(leased_by, $1) = $1
  ), ${writtenWhere("(select holds from fence)", 5)}
  select exists (select from me) as member, holds, asked,
    1 / case when holds and (select count(*) from moved) <> cardinality($3::text[]) then 0 else 1 end as complete
  from fence`

/**
 * What follows in the transaction is planned once for a connection. PostgreSQL would plan it each time, since it takes arrays to
 * be longer than they are: two servers on one account then charge a sixth less.
 */
const planOnce = "set_config('plan_cache_mode', 'force_generic_plan', true)"

const lock = `
  with ${isMember("$4", planOnce)}, locked as materialized (
    select id
    from ledger.account
    where id = any ($3::text[]) and exists (select from me)
    order by id
    for no key update
  )
  select exists (select from me) as member, (select count(*) from locked) as locked`

/** The accounts are those that are locked, and those of keys that are looked up. */
const read = `
  with key as materialized (
    select * from ledger.api_key where id = any ($3::text[])
    union
    select * from ledger.api_key where sha256 = any ($4::text[])
    union
    select * from ledger.api_key where former_sha256 = any ($4::text[])
  )
  select json_build_object(
    'accounts', (
      select coalesce(json_agg(json_build_object('record', ${accountRow}, 'position', position, 'balance', balance,
        'hash', hash, 'leased_by', leased_by, 'lease_asked', lease_asked, 'used_by', used_by,
        'is_leased', exists (select from ledger.server where server.id = leased_by),
        'shared_for', extract(epoch from clock_timestamp() - shared_at) * 1000,
        'recalled_for', extract(epoch from clock_timestamp() - recalled_at) * 1000)), '[]')
      from ledger.account
      where id = any ($2::text[]) or id in (select account_id from key)
    ),
    'keys', (select coalesce(json_agg(${keyRow}), '[]') from key),
    'spent', (
      select coalesce(json_agg(json_build_object('key_id', key_id, 'month', month, 'credits', credits)), '[]')
      from ledger.spent_in_month
      where key_id in (select id from key) and month = any ($5::bigint[])
    ),
    'spent_of_day', (
      select coalesce(json_agg(json_build_object('key_id', key_id, 'day', day, 'credits', credits)), '[]')
      from (
        select usage.key_id, usage.day, sum(usage.credits) as credits
        from key
        cross join unnest($6::text[]::date[]) as asked (day)
        join ledger.usage_of_day as usage
          on usage.account_id = key.account_id and usage.day = asked.day and usage.key_id = key.id
        where key.daily_budget_credits is not null or key.weekly_budget_credits is not null
        group by 1, 2
      ) as spent
    ),
    'grants', (
      select coalesce(json_agg(json_build_object('account_id', account_id, 'position', position, 'expires_at',
        ${momentOf("expires_at")}, 'credits_left', credits_left) order by expires_at, position), '[]')
      from ledger.expiring_grant
      where credits_left > 0 and (account_id = any ($2::text[]) or account_id in (select account_id from key))
    ),
    'held', (
      select coalesce(json_agg(json_build_object('account_id', account_id, 'key_id', key_id, 'day', day,
        'grant_position', grant_position, 'credits', credits)), '[]')
      from ledger.holding
      where (account_id = any ($2::text[]) or account_id in (select account_id from key)) and server_id <> $1
        and credits > 0
    ),
    'slices', (
      select coalesce(json_agg(json_build_object('account_id', account_id, 'server_id', server_id, 'is_asked', is_asked)), '[]')
      from ledger.slice
      where account_id = any ($2::text[])
    )
  ) as answer`

const decided = `
  with ${writtenWhere("true", 1, {
    set: `, leased_by = head.leased_by, lease_asked = head.lease_asked, used_by = head.used_by,
      shared_at = case when head.is_shared then clock_timestamp() else account.shared_at end,
      recalled_at = case when head.is_recalled then clock_timestamp() else account.recalled_at end`,
    arrays: `, $${rowParameters + 2}::text[], $${rowParameters + 3}::boolean[], $${rowParameters + 4}::text[],
      $${rowParameters + 5}::boolean[], $${rowParameters + 6}::boolean[]`,
    columns: ", leased_by, lease_asked, used_by, is_shared, is_recalled"
  })}, begun as (
    insert into ledger.slice (account_id, server_id) select *, $1 from unnest($${rowParameters + 8}::text[])
    on conflict do nothing
  ), ended as (
    delete from ledger.slice where server_id = $1 and account_id = any ($${rowParameters + 9}::text[])
  ), asked as (
    update ledger.slice set is_asked = true where account_id = any ($${rowParameters + 10}::text[]) and server_id <> $1
  ), counted_group as (
    update ledger.server set groups = groups + 1, seen_at = clock_timestamp() where id = $1
  )
  select (select count(*) from moved) as moved, ${asCharged("cardinality($2::text[]) > 0")}, count(pg_notify('${channel}', notice)) as notices
  from unnest($${rowParameters + 7}::text[]) as sent (notice)`

/** Of servers that have said nothing for five seconds. A clock that was set back leaves moments that are yet to come. */
const silent = `
  select id
  from ledger.server
  where seen_at not between clock_timestamp() - interval '5 seconds' and clock_timestamp() + interval '5 seconds'
  order by id
  for update skip locked`
/** A server in the middle of a group is passed over. What the others held, and what was leased to them, is free. */
export const forgetSilentServers = `delete from ledger.server where id in (${silent})`

const beat = `
  with beat as (
    update ledger.server set seen_at = clock_timestamp() where id = $1 and groups = $2::bigint returning ${lightly}
  ), emptied as (
    delete from ledger.holding where server_id = $1 and credits = 0 and exists (select from beat)
  ), silent as materialized (${silent.replace("where", "where id <> $1 and")}), forgotten as (
    delete from ledger.server where id in (select id from silent)
  )
  select exists (select from beat) as member,
    array(
      select id from ledger.account where leased_by = $1 and lease_asked
      union all
      select account_id from ledger.slice where server_id = $1 and is_asked
    ) as asked`

const AccountRead = Schema.Struct({
  record: Account,
  position: Schema.Int,
  balance: Schema.Int,
  hash: Schema.String,
  leased_by: Schema.NullOr(Schema.String),
  lease_asked: Schema.Boolean,
  used_by: Schema.NullOr(Schema.String),
  /** Whether the server that has leased it is known. */
  is_leased: Schema.Boolean,
  /** Milliseconds since another server was seen last. */
  shared_for: Schema.NullOr(Schema.Finite),
  /** Milliseconds since the end of all slices was last requested. */
  recalled_for: Schema.NullOr(Schema.Finite)
})
export type AccountRead = typeof AccountRead.Type

const Read = Schema.Struct({
  accounts: Schema.Array(AccountRead),
  keys: Schema.Array(ApiKey),
  spent: Schema.Array(Schema.Struct({ key_id: Schema.String, month: Schema.Int, credits: Schema.Int })),
  /** Of keys that have a budget per day or week. */
  spent_of_day: Schema.Array(Schema.Struct({ key_id: Schema.String, day: Schema.String, credits: Schema.Int })),
  /** Those that end first come first. */
  grants: Schema.Array(
    Schema.Struct({
      account_id: Schema.String,
      position: Schema.Int,
      expires_at: Schema.String,
      credits_left: Schema.Int
    })
  ),
  /** What other servers hold. */
  held: Schema.Array(
    Schema.Struct({
      account_id: Schema.String,
      key_id: Schema.String,
      day: Schema.Int,
      grant_position: Schema.Int,
      credits: Schema.Int
    })
  ),
  /** Of all servers. */
  slices: Schema.Array(Schema.Struct({ account_id: Schema.String, server_id: Schema.String, is_asked: Schema.Boolean }))
})
export type Read = typeof Read.Type
const decodeRead = Schema.decodeUnknownEffect(Read)

/** What is read of accounts that are locked, and of keys. */
export interface Asked {
  readonly accounts: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
  readonly sha256: ReadonlyArray<string>
  /** UTC days of calls, counted from 1970-01-01. */
  readonly days: ReadonlyArray<number>
}

export interface Leased {
  readonly head: ChainHead
  readonly leased_by: string | null
  readonly lease_asked: boolean
  readonly used_by: string | null
  /** Whether another server was seen just now. */
  readonly is_shared: boolean
  /** Whether the end of all slices is asked for. */
  readonly is_recalled: boolean
}

/** What is written of a decision. */
export interface Judged {
  readonly entries: ReadonlyArray<Entry>
  readonly holdings: ReadonlyArray<Holding>
  /** Accounts with entries, and others whose lease changes, by id. */
  readonly leases: ReadonlyMap<string, Leased>
  readonly notices: ReadonlyArray<string>
  /** Accounts of which the server begins to have a slice, has none any more, and wants that no other server has one. */
  readonly begun: ReadonlyArray<string>
  readonly ended: ReadonlyArray<string>
  readonly recalled: ReadonlyArray<string>
}

/** Groups of other servers wait for what a group has locked already; so it does not wait long for a second account. */
const patienceFor = (accounts: number) => (accounts > 1 ? "200ms" : "1s")

const decidedRows = ({ entries, holdings, leases }: Judged) => {
  const moved = movedBy(entries)
  const accounts = [...leases].map(([id, lease]) => ({
    ...lease,
    moved: moved.get(id) ?? { id, ...lease.head, money_out: 0 }
  }))
  return [
    ...rowsOf(
      entries,
      accounts.map((account) => account.moved),
      holdings
    ),
    texts(accounts.map((account) => account.leased_by)),
    booleans(accounts.map((account) => account.lease_asked)),
    texts(accounts.map((account) => account.used_by)),
    booleans(accounts.map((account) => account.is_shared)),
    booleans(accounts.map((account) => account.is_recalled))
  ]
}

export type Decision = "not a member" | "decided"

const begin: Statement = { text: "begin" }
const commit: Statement = { text: "commit" }
const rollback: Statement = { text: "rollback" }

/** As promises: a group is one of them, and no fiber runs per call. */
export const serverStatements = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const inTime = <A, E>(asked: Effect.Effect<A, E>) =>
    withDeadline((signal) => run(Effect.mapError(asked, unavailable("be written")), { signal }))
  const again = { times: 5, while: (error: unknown) => wasRolledBack(error) }

  const use = yield* makePipeline(sql)
  const reading = (member: string, { accounts, days, keys, sha256 }: Asked): Statement => ({
    text: read,
    params: [
      member,
      texts(accounts),
      texts(keys),
      texts(sha256),
      integers([...new Set(days.map(monthOfDay))]),
      texts(daysOfWeeks(days).map(dateOfDay))
    ]
  })
  const one = <A>(statement: Statement) =>
    use((ask) => Effect.map(ask([statement]), ([rows]) => rows?.[0] as A | undefined)) // as the statement says

  return {
    charge: ({ before, entries, holdings }: Charged, { groups, id }: Member): Promise<Written> => {
      const accounts = [...before.keys()]
      const heads: ReadonlyArray<Moved> = [...movedBy(entries).values()]
      const known = texts([...before.values()].map(({ hash }) => hash))
      const params = [id, groups, texts(accounts), known, patienceFor(accounts.length)]
      const written = one<{ member: boolean; holds: boolean; asked: ReadonlyArray<string> }>({
        text: write,
        params: [...params, ...rowsOf(entries, heads, holdings)]
      })
      return inTime(
        written.pipe(
          Effect.retry(again),
          Effect.map((row): Written => {
            if (!row?.member) return { outcome: "not a member" }
            return row.holds ? { outcome: "written", asked: row.asked } : { outcome: "moved" }
          })
        )
      )
    },
    /** `judge` is called again where the database has rolled back; it answers nothing where nothing is to be written. */
    decide: ({ groups, id }: Member, asked: Asked, judge: (read: Read) => Judged | undefined): Promise<Decision> => {
      const locking = {
        text: lock,
        params: [id, groups, texts(asked.accounts), patienceFor(asked.accounts.length)]
      }
      const transaction = Effect.fnUntraced(function* (ask: Ask) {
        const [, locked, found] = yield* ask([begin, locking, reading(id, asked)])
        if (!locked?.[0]?.member) {
          yield* ask([rollback])
          return "not a member" as const
        }
        const judged = judge(yield* decodeRead(found?.[0]?.answer))
        if (judged === undefined) {
          yield* ask([rollback])
          return "decided" as const
        }
        const changes = [judged.notices, judged.begun, judged.ended, judged.recalled].map(texts)
        yield* ask([{ text: decided, params: [id, ...decidedRows(judged), ...changes] }, commit])
        return "decided" as const
      })
      return inTime(use(transaction).pipe(Effect.retry(again)))
    },
    /** Of keys, and of their accounts as they were a moment ago. */
    read: ({ id }: Member, asked: Asked): Promise<Read> =>
      inTime(Effect.flatMap(one<{ answer: unknown }>(reading(id, asked)), (row) => decodeRead(row?.answer))),
    /** Answers the accounts whose lease is asked for, or undefined where the server is not known any more. */
    beat: ({ groups, id }: Member): Promise<ReadonlyArray<string> | undefined> =>
      inTime(
        one<{ member: boolean; asked: ReadonlyArray<string> }>({ text: beat, params: [id, groups] }).pipe(
          Effect.retry(again),
          Effect.map((row) => (row?.member ? row.asked : undefined))
        )
      ),
    inTime
  }
})

export type ServerStatements = Effect.Success<ReturnType<typeof serverStatements>>

/**
 * Gives up on what takes too long: a peer that has vanished says nothing for minutes. The statement may still end by itself; a
 * server that joins again waits for it, by the row of its former name.
 */
const withDeadline = <A>(ask: (signal: AbortSignal) => Promise<A>): Promise<A> => {
  const { promise, reject, resolve } = Promise.withResolvers<A>()
  const controller = new AbortController()
  const timer = setTimeout(() => {
    const cause = `no answer within ${longestStatement / 1_000} seconds`
    reject(new LedgerUnavailable({ action: "be written", cause }))
    controller.abort()
  }, longestStatement)
  ask(controller.signal)
    .then(resolve, reject)
    .finally(() => clearTimeout(timer))
  return promise
}
