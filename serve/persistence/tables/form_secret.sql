-- The secret that signs the forms of the console's pages: one row, written when the first page is shown.
create table console.form_secret (
  id text primary key,
  secret text not null
)
