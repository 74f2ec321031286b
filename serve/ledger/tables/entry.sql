create table if not exists entry (
  sequence bigint not null,
  type varchar not null,
  occurred_at timestamp not null,
  account_id varchar not null,
  key_id varchar,
  endpoint varchar,
  credits bigint not null,
  request_id varchar,
  note varchar
)
