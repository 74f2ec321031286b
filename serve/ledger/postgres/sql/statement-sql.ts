/** The SQL that `statements.ts` sends: the statement for charges, those for a decision, and the heartbeat. */
import { accountRow, keyRow } from "./sql-expressions.ts"
import { rowParameterCount, writeRows } from "./write-group.ts"

/** A server that stalls must not keep accounts locked: callers of other servers wait for two seconds. */
const pauseTimeout = "1500ms"
/** The channel on which servers notify each other that a lease or slice is requested, or that an account is free. */
export const channel = "larder_ledger"

/** Overrides the default of the database or the role: a charge is flushed before its response is sent. */
export const requireFlush =
  "set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true)"
/** A hold does not have to survive a crash of the database, because its server then joins again. */
const skipFlush = "set_config('synchronous_commit', 'off', true)"

/** Only statements with charges have to be flushed. */
const requireFlushIf = (charges: string) => `case when ${charges} then ${requireFlush} else ${skipFlush} end`

const withMember = (timeout: string, setting: string) => `
  registered as materialized (
    select set_config('lock_timeout', ${timeout}, true), ${setting},
      set_config('idle_in_transaction_session_timeout', '${pauseTimeout}', true)
    from ledger.server
    where id = $1 and groups = $2::bigint
    for key share
  )`

/** Writes charges. Divides by zero to abort if a locked account in the expected state was not updated, which never happens. */
export const writeCharges = `
  with ${withMember("$5", requireFlushIf("cardinality($3::text[]) > 0"))}, locked as materialized (
    select id, hash, leased_by, lease_asked
    from ledger.account
    where id = any ($3::text[]) and exists (select from registered)
    order by id
    for no key update
  ), fence as materialized (
    select count(*) = cardinality($3::text[]) and exists (select from registered) as is_unchanged,
      coalesce(array_agg(id) filter (where lease_asked), '{}') as requested
    from locked
    join unnest($3::text[], $4::text[]) as known (id, hash) using (id, hash)
    where coalesce(leased_by, $1) = $1
  ), ${writeRows("(select is_unchanged from fence)", 5)}
  select exists (select from registered) as member, is_unchanged, requested,
    1 / case when is_unchanged and (select count(*) from moved) <> cardinality($3::text[]) then 0 else 1 end as complete
  from fence`

/**
 * Plans the following statements once per connection. Otherwise PostgreSQL, which assumes longer arrays, would plan them
 * each time: two servers on one account would charge a sixth less.
 */
const planOnce = "set_config('plan_cache_mode', 'force_generic_plan', true)"

export const lock = `
  with ${withMember("$4", planOnce)}, locked as materialized (
    select id
    from ledger.account
    where id = any ($3::text[]) and exists (select from registered)
    order by id
    for no key update
  )
  select exists (select from registered) as member, (select count(*) from locked) as locked`

/** Reads the accounts that are locked, and those of keys that are looked up. */
export const read = `
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
    'held', (
      select coalesce(json_agg(json_build_object('account_id', account_id, 'key_id', key_id, 'month', month,
        'credits', credits, 'reserved', reserved)), '[]')
      from ledger.holding
      where (account_id = any ($2::text[]) or account_id in (select account_id from key)) and server_id <> $1
        and credits > 0
    ),
    'slices', (
      select coalesce(json_agg(json_build_object('account_id', account_id, 'server_id', server_id, 'is_asked', is_asked)), '[]')
      from ledger.slice
      where account_id = any ($2::text[])
    )
  ) as content`

export const writeDecision = `
  with ${writeRows("true", 1, {
    set: `, leased_by = head.leased_by, lease_asked = head.lease_asked, used_by = head.used_by,
      shared_at = case when head.is_shared then clock_timestamp() else account.shared_at end,
      recalled_at = case when head.is_recalled then clock_timestamp() else account.recalled_at end`,
    arrays: `, $${rowParameterCount + 2}::text[], $${rowParameterCount + 3}::boolean[], $${rowParameterCount + 4}::text[],
      $${rowParameterCount + 5}::boolean[], $${rowParameterCount + 6}::boolean[]`,
    columns: ", leased_by, lease_asked, used_by, is_shared, is_recalled"
  })}, begun as (
    insert into ledger.slice (account_id, server_id) select *, $1 from unnest($${rowParameterCount + 8}::text[])
    on conflict do nothing
  ), ended as (
    delete from ledger.slice where server_id = $1 and account_id = any ($${rowParameterCount + 9}::text[])
  ), recalled as (
    update ledger.slice set is_asked = true where account_id = any ($${rowParameterCount + 10}::text[]) and server_id <> $1
  ), counted_group as (
    update ledger.server set groups = groups + 1, seen_at = clock_timestamp() where id = $1
  )
  select (select count(*) from moved) as moved, ${requireFlushIf("cardinality($2::text[]) > 0")}, count(pg_notify('${channel}', notification)) as notifications
  from unnest($${rowParameterCount + 7}::text[]) as sent (notification)`

/** Servers that have sent nothing for five seconds. If a clock was set back, `seen_at` may be in the future. */
const silent = `
  select id
  from ledger.server
  where seen_at not between clock_timestamp() - interval '5 seconds' and clock_timestamp() + interval '5 seconds'
  order by id
  for update skip locked`
/** Frees what silent servers held or had leased. Skips a server that is in the middle of a group. */
export const dropSilentServers = `delete from ledger.server where id in (${silent})`

export const heartbeat = `
  with heartbeat as (
    update ledger.server set seen_at = clock_timestamp() where id = $1 and groups = $2::bigint returning ${skipFlush}
  ), emptied as (
    delete from ledger.holding where server_id = $1 and credits = 0 and exists (select from heartbeat)
  ), silent as materialized (${silent.replace("where", "where id <> $1 and")}), dropped as (
    delete from ledger.server where id in (select id from silent)
  )
  select exists (select from heartbeat) as member,
    array(
      select id from ledger.account where leased_by = $1 and lease_asked
      union all
      select account_id from ledger.slice where server_id = $1 and is_asked
    ) as requested`
