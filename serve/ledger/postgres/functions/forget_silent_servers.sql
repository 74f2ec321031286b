-- Servers that say nothing for five seconds are taken for dead, and what they held is free again. One that was only slow
-- is told at its next group. A server in the middle of a group is passed over. A clock that was set back leaves moments
-- that are yet to come: they tell nothing, either.
create function ledger.forget_silent_servers() returns void
language sql as $$
  delete from ledger.server
  where id in (
    select id from ledger.server
    where seen_at not between clock_timestamp() - interval '5 seconds' and clock_timestamp() + interval '5 seconds'
    order by id
    for update skip locked
  )
$$
