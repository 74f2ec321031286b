-- Writes entries in the order given: chains them to what their accounts have, moves balances, and counts spending and usage,
-- also in the sums that pages read.
-- What carries a key is a charge, or the refund of one, which takes it out of the month and the day that it was counted in.
-- The accounts are locked first, always in the order of their ids, so that two groups can wait for each other only one way.
-- Money that goes out may take more than there is: the account counts it, and its balance is below 0 by no more than that.
create or replace function ledger.book(drafts jsonb) returns void
language plpgsql as $$
begin
  -- Whatever is the default of the database or the role: a charge is on the disk before its answer leaves.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform from ledger.account
  where id in (select draft ->> 'account_id' from jsonb_array_elements(drafts) as draft)
  order by id
  for no key update;

  with draft as (
    select *
    from rows from (jsonb_to_recordset(drafts) as (
      account_id text, type text, occurred_at text, key_id text, endpoint text, credits bigint, budget_credits bigint,
      request_id text, note text
    )) with ordinality as draft (
      account_id, type, occurred_at, key_id, endpoint, credits, budget_credits, request_id, note, place
    )
  ), placed as (
    select
      draft.*,
      account.hash as hash_before,
      account.position + row_number() over so_far as "position",
      (account.balance + sum(draft.credits) over so_far)::bigint as balance
    from draft
    join ledger.account on account.id = draft.account_id
    window so_far as (partition by draft.account_id order by draft.place)
  ), chained as (
    select
      *,
      ledger.chain(hash_before, ledger.fields_of(
        account_id, "position", type, occurred_at, key_id, endpoint, credits, balance, budget_credits, request_id, note
      )) over (partition by account_id order by "position") as hash
    from placed
  ), written as (
    insert into ledger.entry (
      account_id, position, type, occurred_at, key_id, endpoint, credits, balance, budget_credits, request_id, note, hash
    )
    select
      account_id, "position", type, occurred_at::timestamptz, key_id, endpoint, credits, balance, budget_credits,
      request_id, note, hash
    from chained
    order by place
  ), moved as (
    update ledger.account
    set position = newest."position", balance = newest.balance, hash = newest.hash,
      money_out = account.money_out + newest.money_out
    from (
      select distinct on (account_id) account_id, "position", balance, hash,
        sum(case when credits < 0 and type in ('refund', 'adjustment') then -credits else 0 end)
          over (partition by account_id) as money_out
      from chained
      order by account_id, "position" desc
    ) as newest
    where account.id = newest.account_id
  ), spent as (
    insert into ledger.spent_in_month as spent (key_id, month, credits)
    select key_id, ledger.month_of(occurred_at), -sum(credits)
    from chained
    where key_id is not null
    group by 1, 2
    on conflict (key_id, month) do update set credits = spent.credits + excluded.credits
  ), counted as (
    select account_id, substr(occurred_at, 1, 10)::date as day, ledger.month_of(occurred_at) as month, key_id, endpoint,
      count(*) filter (where type = 'charge') - count(*) filter (where type = 'refund') as calls, -sum(credits) as credits
    from chained
    where key_id is not null
    group by 1, 2, 3, 4, 5
  ), by_month as (
    insert into ledger.usage_of_month as usage (account_id, month, key_id, endpoint, calls, credits)
    select account_id, month, key_id, endpoint, sum(calls), sum(credits)
    from counted
    group by 1, 2, 3, 4
    on conflict (account_id, month, key_id, endpoint)
    do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits
  ), by_endpoint as (
    insert into ledger.usage_of_endpoint as usage (account_id, day, endpoint, calls, credits)
    select account_id, day, endpoint, sum(calls), sum(credits)
    from counted
    group by 1, 2, 3
    on conflict (account_id, day, endpoint)
    do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits
  )
  insert into ledger.usage_of_day as usage (account_id, day, key_id, endpoint, calls, credits)
  select account_id, day, key_id, endpoint, calls, credits
  from counted
  on conflict (account_id, day, key_id, endpoint)
  do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits;
end
$$
