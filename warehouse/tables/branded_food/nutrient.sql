create table if not exists branded_food.nutrient (
  nutrient_id integer not null,
  number varchar,
  name varchar,
  unit varchar
)
