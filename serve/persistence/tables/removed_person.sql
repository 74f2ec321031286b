-- Removed people. Receipts of their payments still name them.
create table console.removed_person (
  id text primary key,
  account_id text not null,
  email text not null,
  removed_at text not null
)
