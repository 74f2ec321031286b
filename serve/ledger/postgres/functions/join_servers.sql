-- Makes a server known, in place of the one that it was before it lost its connection. Whatever is still under way for the
-- old one ends first, and can write nothing afterwards, so the answer is final: which of the calls that still wait for
-- their charge are charged. Calls that were answered with an error meanwhile get back what they were charged.
create function ledger.join_servers(member text, previous text, waiting jsonb, answered jsonb) returns jsonb
language plpgsql as $$
declare
  refunds jsonb;
begin
  -- Groups would wait for a table that another session has locked: then the ledger is not back. This waits, and locks no row.
  perform from ledger.account where false for update;
  perform ledger.forget_silent_servers();
  delete from ledger.server where id = previous;
  insert into ledger.server (id, seen_at) values (member, clock_timestamp());

  select jsonb_agg(jsonb_build_object(
    'account_id', charge.account_id, 'type', 'refund', 'occurred_at', ledger.moment_of(charge.occurred_at),
    'key_id', charge.key_id, 'endpoint', charge.endpoint, 'credits', -charge.credits, 'budget_credits', null,
    'request_id', charge.request_id, 'note', 'the call was answered with an error'
  ))
  into refunds
  from ledger.entry as charge
  where charge.type = 'charge'
    and charge.request_id in (select jsonb_array_elements_text(answered))
    and not exists (
      select from ledger.entry as refund where refund.request_id = charge.request_id and refund.type = 'refund'
    );
  if refunds is not null then
    perform ledger.book(refunds);
  end if;

  return (
    select coalesce(jsonb_agg(charge.request_id), '[]')
    from ledger.entry as charge
    where charge.type = 'charge' and charge.request_id in (select jsonb_array_elements_text(waiting))
  );
end
$$
