-- One step of `ledger.chain`. `so_far` is null before the first entry.
create function ledger.chain_link(so_far text, beginning text, fields text) returns text
language sql stable as $$
  select encode(sha256(convert_to(coalesce(so_far, beginning) || E'\n' || fields, 'UTF8')), 'hex')
$$
