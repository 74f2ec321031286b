-- The month of an ISO 8601 text in UTC, counted from the year 0.
create function ledger.month_of(moment text) returns integer
language sql immutable as $$
  select substr(moment, 1, 4)::integer * 12 + substr(moment, 6, 2)::integer - 1
$$
