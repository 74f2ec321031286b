-- ISO 8601 in UTC with milliseconds, as in JSON and in the text that is hashed.
create function ledger.moment_of(moment timestamptz) returns text
language sql stable as $$
  select to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$
