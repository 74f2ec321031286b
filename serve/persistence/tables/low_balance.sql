-- The balance of an account below which its people get a mail. An account without a row gets none.
create table console.low_balance (
  account_id text primary key,
  threshold_credits integer not null,
  changed_at text not null
)
