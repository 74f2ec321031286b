-- As a version had it that summed up no months.
-- Adds what a statement has counted to the sums, in its transaction. One that inserts and updates comes here twice, and takes
-- the sums in no common order: so one server adds after the other, and no two of them wait for each other.
create or replace function console.sum_statuses() returns trigger
language plpgsql as $$
begin
  perform pg_advisory_xact_lock('console.status_of_endpoint'::regclass::oid::bigint);
  if tg_op = 'INSERT' then
    insert into console.status_of_endpoint as sums (account_id, day, endpoint, status, calls)
    select account_id, day, endpoint, status, sum(calls)
    from counted
    group by account_id, day, endpoint, status
    on conflict (account_id, day, endpoint, status) do update set calls = sums.calls + excluded.calls;
  else
    insert into console.status_of_endpoint as sums (account_id, day, endpoint, status, calls)
    select account_id, day, endpoint, status, sum(calls)
    from (
      select account_id, day, endpoint, status, calls from counted
      union all
      select account_id, day, endpoint, status, -calls from replaced
    ) as changes
    group by account_id, day, endpoint, status
    on conflict (account_id, day, endpoint, status) do update set calls = sums.calls + excluded.calls;
  end if;
  return null;
end
$$;

create trigger sum_inserted after insert on console.usage_of_status
referencing new table as counted
for each statement execute function console.sum_statuses();

create trigger sum_updated after update on console.usage_of_status
referencing old table as replaced new table as counted
for each statement execute function console.sum_statuses();
