-- Decides a group of holds, call by call in the order in which they came: what all servers hold counts against balance and
-- budget, so a small call may pass after a large one was refused. Answers the outcome of each.
-- The accounts must be locked by the caller.
create function ledger.admit(member text, holds jsonb) returns jsonb
language plpgsql as $$
declare
  call record;
  outcomes text[] := array_fill(null::text, array[jsonb_array_length(holds)]);
  account text := '';
  taken_of_account bigint := 0;
  taken_of_month jsonb := '{}';
  month_of_key text;
  taken bigint;
  outcome text;
begin
  for call in
    with wanted as (
      select
        hold.place, hold.key_id, hold.month, hold.credits, key.account_id, key.budget_credits,
        coalesce(key.revision = hold.revision and key.revoked_at is null, false) as is_current
      from rows from (jsonb_to_recordset(holds) as (key_id text, revision integer, month integer, credits bigint))
        with ordinality as hold (key_id, revision, month, credits, place)
      left join ledger.api_key as key on key.id = hold.key_id
    ), account_room as (
      select account.id, account.balance - coalesce(sum(holding.credits), 0) as room
      from ledger.account
      left join ledger.holding on holding.account_id = account.id
      where account.id in (select account_id from wanted)
      group by account.id
    ), month_room as (
      select
        asked.key_id, asked.month,
        asked.budget_credits - coalesce(spent.credits, 0) - coalesce(sum(holding.credits), 0) as room
      from (select distinct account_id, key_id, month, budget_credits from wanted where is_current) as asked
      left join ledger.spent_in_month as spent on spent.key_id = asked.key_id and spent.month = asked.month
      left join ledger.holding
        on holding.account_id = asked.account_id and holding.key_id = asked.key_id and holding.month = asked.month
      group by asked.key_id, asked.month, asked.budget_credits, spent.credits
    )
    select wanted.*, account_room.room as account_room, month_room.room as month_room
    from wanted
    left join account_room on account_room.id = wanted.account_id
    left join month_room on month_room.key_id = wanted.key_id and month_room.month = wanted.month
    order by wanted.account_id, wanted.place
  loop
    if call.account_id is distinct from account then
      account := call.account_id;
      taken_of_account := 0;
      taken_of_month := '{}';
    end if;
    month_of_key := call.key_id || ' ' || call.month;
    taken := coalesce((taken_of_month ->> month_of_key)::bigint, 0);
    if not call.is_current then
      outcome := 'key_changed';
    elsif call.account_room - taken_of_account < call.credits then
      outcome := 'insufficient_balance';
    elsif call.month_room - taken < call.credits then
      outcome := 'spend_cap_reached';
    else
      outcome := 'held';
      taken_of_account := taken_of_account + call.credits;
      taken_of_month := jsonb_set(taken_of_month, array[month_of_key], to_jsonb(taken + call.credits));
    end if;
    outcomes[call.place] := outcome;
  end loop;

  insert into ledger.holding as holding (account_id, key_id, month, server_id, credits)
  select key.account_id, hold.key_id, hold.month, member, sum(hold.credits)
  from rows from (jsonb_to_recordset(holds) as (key_id text, month integer, credits bigint))
    with ordinality as hold (key_id, month, credits, place)
  join ledger.api_key as key on key.id = hold.key_id
  where outcomes[hold.place] = 'held'
  group by 1, 2, 3
  on conflict (account_id, key_id, month, server_id) do update set credits = holding.credits + excluded.credits;

  return to_jsonb(outcomes);
end
$$
