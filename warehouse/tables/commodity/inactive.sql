create table if not exists commodity.inactive (
  subject varchar not null,
  kind varchar not null,
  why varchar not null
)
