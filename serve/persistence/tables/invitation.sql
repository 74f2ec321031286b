-- One-time links to create a login for an account, or to choose a new password (`person_id`). `is_first` marks the
-- links that the server prints at its start for the first person. The token itself is not stored.
create table console.invitation (
  token_sha256 text primary key,
  account_id text not null,
  email text,
  is_operator boolean not null,
  created_at text not null,
  expires_at text not null,
  used_at text,
  is_first boolean not null,
  person_id text
)
