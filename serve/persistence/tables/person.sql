-- People who sign in; each belongs to one account. Operators also see the state of the warehouse.
create table console.person (
  id text primary key,
  account_id text not null,
  email text not null unique,
  password text not null,
  is_operator boolean not null,
  created_at text not null
)
