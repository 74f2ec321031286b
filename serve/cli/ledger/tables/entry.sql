create table entry (
  sequence bigint not null,
  account_id varchar not null,
  position bigint not null,
  type varchar not null,
  occurred_at timestamp not null,
  key_id varchar,
  endpoint varchar,
  credits bigint not null,
  balance bigint not null,
  budget_credits bigint,
  request_id varchar,
  note varchar,
  hash varchar not null
)
