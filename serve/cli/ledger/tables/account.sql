create table account (
  id varchar not null,
  name varchar not null,
  created_at timestamp not null,
  suspended_at timestamp
)
