-- Browsers with which a person has signed in. What a cookie there holds is stored nowhere.
create table console.known_browser (
  token_sha256 text primary key,
  person_id text not null,
  created_at text not null,
  expires_at text not null
)
