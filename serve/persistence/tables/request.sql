-- The latest calls of each account, charged or not.
create table console.request (
  id text not null,
  account_id text not null,
  key_id text not null,
  endpoint text not null,
  status integer not null,
  credits integer not null,
  duration_ms double precision not null,
  occurred_at text not null,
  caller_request_id text,
  traceparent text
)
