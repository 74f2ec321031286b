-- Mails with links to one address within a day: each takes one of three slots. A row is deleted after a day.
create table console.mailed_link (
  email text not null,
  slot integer not null,
  mailed_at text not null,
  primary key (email, slot)
)
