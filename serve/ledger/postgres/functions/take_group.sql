-- What one server has gathered since its last group, in one transaction: charges of calls that were held, holds that ended
-- without a charge, keys to look up, and holds to decide. Null where the server is not known (any more): it was silent for
-- too long, and what it held counts no longer.
--
-- The group: { server, month, charges: [draft], released: [{ key_id, month, credits }], keys: [sha256],
-- holds: [{ key_id, revision, month, credits }] }. `month` is the month of the lookups.
-- The answer: { holds: [outcome], keys: [key or null], remaining: { key id: credits } }.
create function ledger.take_group(member text, asked jsonb) returns jsonb
language plpgsql as $$
declare
  charges constant jsonb := asked -> 'charges';
  holds constant jsonb := asked -> 'holds';
  last_seen timestamptz;
  expected integer;
  found_rows integer;
  outcomes jsonb;
  answer jsonb;
begin
  select seen_at into last_seen from ledger.server where id = member for update;
  if not found then
    return null;
  end if;
  if last_seen < clock_timestamp() - interval '1 second' then
    update ledger.server set seen_at = clock_timestamp() where id = member;
    perform ledger.forget_silent_servers();
  end if;
  -- Holds need not survive a crash of the database: then the server joins anew, and holds nothing.
  if jsonb_array_length(charges) = 0 then
    perform set_config('synchronous_commit', 'off', true);
  end if;

  perform from ledger.account
  where id in (
    select draft ->> 'account_id' from jsonb_array_elements(charges) as draft
    union
    select key.account_id
    from jsonb_array_elements(holds) as hold
    join ledger.api_key as key on key.id = hold ->> 'key_id'
  )
  order by id
  for update;

  with ended as (
    select key_id, month, credits
    from jsonb_to_recordset(asked -> 'released') as released (key_id text, month integer, credits bigint)
    union all
    select key_id, ledger.month_of(occurred_at), -credits
    from jsonb_to_recordset(charges) as charge (key_id text, occurred_at text, credits bigint)
  ), gone as (
    select key_id, month, sum(credits) as credits from ended group by key_id, month
  ), given_back as (
    update ledger.holding
    set credits = holding.credits - gone.credits
    from gone
    where holding.server_id = member and holding.key_id = gone.key_id and holding.month = gone.month
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

  with key as (
    select * from ledger.api_key
    where sha256 in (select jsonb_array_elements_text(asked -> 'keys'))
      or id in (select hold ->> 'key_id' from jsonb_array_elements(holds) as hold)
      or id in (select charge ->> 'key_id' from jsonb_array_elements(charges) as charge)
  ), remaining as (
    select
      key.id,
      greatest(0, least(
        account.balance - coalesce(held.credits, 0),
        key.budget_credits - coalesce(spent.credits, 0) - coalesce(held_of_month.credits, 0)
      )) as credits
    from key
    join ledger.account on account.id = key.account_id
    left join ledger.spent_in_month as spent on spent.key_id = key.id and spent.month = (asked ->> 'month')::integer
    left join lateral (
      select sum(holding.credits) as credits from ledger.holding where holding.account_id = key.account_id
    ) as held on true
    left join lateral (
      select sum(holding.credits) as credits from ledger.holding
      where holding.account_id = key.account_id and holding.key_id = key.id
        and holding.month = (asked ->> 'month')::integer
    ) as held_of_month on true
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
