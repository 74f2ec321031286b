-- People who were removed: receipts of what they paid go on naming them.
create table console.removed_person (
  id text primary key,
  account_id text not null,
  email text not null,
  removed_at text not null
)
