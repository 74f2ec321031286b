-- Which server sends notices to the operator: one row. Another server takes over when it has expired.
create table console.notifier (
  id text primary key,
  server text not null,
  expires_at text not null
)
