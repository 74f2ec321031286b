-- Browsers that a person has signed in with. The token in their cookie is not stored.
create table console.known_browser (
  token_sha256 text primary key,
  person_id text not null,
  created_at text not null,
  expires_at text not null
)
