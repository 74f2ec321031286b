-- Valid sessions. The token itself is not stored.
create table console.session (
  token_sha256 text primary key,
  person_id text not null,
  created_at text not null,
  seen_at text not null,
  expires_at text not null
)
