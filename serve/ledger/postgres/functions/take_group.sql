-- What one server has gathered since its last group, in one transaction: charges of calls that were held, holds that ended
-- without a charge, keys to look up, and holds to decide. Null where the server is not known (any more): it was silent for
-- too long, and what it held counts no longer.
--
-- The group: { month, charges: [draft], released: [{ account_id, key_id, month, credits }], keys: [sha256],
-- holds: [{ account_id, key_id, revision, month, credits }] }. `month` is the month of the lookups.
-- The answer: { holds: [outcome], keys: [key or null], remaining: { key id: credits } }.
--
-- Compiling a plan takes longer than any group. An account that somebody has locked is not waited for longer than a second,
-- and by a group that has locked others already, not for longer than a fifth of it: groups of other servers wait for those.
-- The server then sends the calls of each account by themselves.
create function ledger.take_group(member text, asked jsonb) returns jsonb
language plpgsql
set jit = off
as $$
declare
  charges constant jsonb := asked -> 'charges';
  released constant jsonb := asked -> 'released';
  holds constant jsonb := asked -> 'holds';
  this_month constant integer := (asked ->> 'month')::integer;
  last_seen timestamptz;
  accounts text[];
  expected integer;
  found_rows integer;
  outcomes jsonb;
  answer jsonb;
begin
  select seen_at into last_seen from ledger.server where id = member for update;
  if not found then
    return null;
  end if;
  if last_seen not between clock_timestamp() - interval '1 second' and clock_timestamp() then
    update ledger.server set seen_at = clock_timestamp() where id = member;
    delete from ledger.holding where server_id = member and credits = 0;
    perform ledger.forget_silent_servers();
  end if;
  -- A hold need not survive a crash of the database: its charge finds too little then, and the server joins anew.
  if jsonb_array_length(charges) = 0 and jsonb_array_length(released) = 0 then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  select coalesce(array_agg(distinct call ->> 'account_id'), '{}') into accounts
  from jsonb_array_elements(charges || holds) as call;
  perform set_config('lock_timeout', case when cardinality(accounts) > 1 then '200ms' else '1s' end, true);
  perform from ledger.account where id = any (accounts) order by id for no key update;

  with ended as (
    select account_id, key_id, month, credits
    from jsonb_to_recordset(released) as hold (account_id text, key_id text, month integer, credits bigint)
    union all
    select account_id, key_id, ledger.month_of(occurred_at), -credits
    from jsonb_to_recordset(charges) as charge (account_id text, key_id text, occurred_at text, credits bigint)
  ), gone as (
    select account_id, key_id, month, sum(credits) as credits from ended group by account_id, key_id, month
  ), given_back as (
    update ledger.holding
    set credits = holding.credits - gone.credits
    from gone
    where holding.account_id = gone.account_id and holding.key_id = gone.key_id and holding.month = gone.month
      and holding.server_id = member
    returning 1
  )
  select (select count(*) from gone), (select count(*) from given_back) into expected, found_rows;
  if found_rows < expected then
    raise exception 'the holds of server % are not what it says: % of % are known', member, found_rows, expected;
  end if;

  if jsonb_array_length(charges) > 0 then
    perform ledger.book(charges);
  end if;
  outcomes := case when jsonb_array_length(holds) > 0 then ledger.admit(member, holds) else '[]' end;

  with used as (
    select hold ->> 'key_id' as id from jsonb_array_elements(holds) as hold
    union
    select charge ->> 'key_id' from jsonb_array_elements(charges) as charge
  ), key as (
    select api_key.* from used join ledger.api_key using (id)
    union
    select api_key.*
    from jsonb_array_elements_text(asked -> 'keys') as looked_up (sha256)
    join ledger.api_key using (sha256)
  ), held as (
    select account_id, sum(credits) as credits
    from ledger.holding
    where account_id in (select account_id from key)
    group by account_id
  ), held_of_month as (
    select key_id, sum(credits) as credits
    from ledger.holding
    where account_id in (select account_id from key) and month = this_month
    group by key_id
  ), remaining as (
    select
      key.id,
      greatest(0, least(
        account.balance - coalesce(held.credits, 0),
        key.budget_credits - coalesce(spent.credits, 0) - coalesce(held_of_month.credits, 0)
      )) as credits
    from key
    join ledger.account on account.id = key.account_id
    left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = this_month
    left join held on held.account_id = key.account_id
    left join held_of_month on held_of_month.key_id = key.id
  )
  select jsonb_build_object(
    'holds', outcomes,
    'keys', (
      select coalesce(jsonb_agg(
        case when key.id is not null then jsonb_build_object(
          'id', key.id, 'account_id', key.account_id, 'name', key.name, 'scopes', key.scopes, 'sha256', key.sha256,
          'budget_credits', key.budget_credits, 'revision', key.revision, 'revoked', key.revoked_at is not null,
          'remaining', remaining.credits
        ) end order by wanted.place
      ), '[]')
      from jsonb_array_elements_text(asked -> 'keys') with ordinality as wanted (sha256, place)
      left join key on key.sha256 = wanted.sha256
      left join remaining on remaining.id = key.id
    ),
    'remaining', (select coalesce(jsonb_object_agg(id, credits), '{}') from remaining)
  ) into answer;
  return answer;
end
$$
