-- One-time links with which a person makes an account's sign-in, or chooses a new password (`person_id`). `is_first` marks
-- those that a start prints for the first person. The token itself is stored nowhere.
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
