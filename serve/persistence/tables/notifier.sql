-- Which server sends notices to the operator (`freshness`), and mails to the people of accounts (`accounts`). Another
-- server takes over when a row has expired.
create table console.notifier (
  id text primary key,
  server text not null,
  expires_at text not null
)
