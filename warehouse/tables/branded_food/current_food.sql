-- versions_of_foods.sql sets is_current
create or replace view branded_food.current_food as
from branded_food.food
semi join (from branded_food.version where is_current) using (fdc_id)
