create table if not exists api_key (
  id varchar not null,
  account_id varchar not null,
  name varchar not null,
  scopes varchar[] not null,
  budget_credits bigint not null,
  sha256 varchar not null,
  last4 varchar not null,
  created_at timestamp not null,
  revoked_at timestamp,
  revision integer not null
)
