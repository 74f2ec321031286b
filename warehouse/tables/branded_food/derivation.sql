create table if not exists branded_food.derivation (
  derivation_id smallint not null,
  derivation varchar,
  description varchar
)
