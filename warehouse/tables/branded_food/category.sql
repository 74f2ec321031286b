create table if not exists branded_food.category (
  category varchar not null,
  product_count integer not null
)
