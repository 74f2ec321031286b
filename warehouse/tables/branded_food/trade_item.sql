-- versions_of_foods.sql sets is_current_of_gtin
create or replace view branded_food.trade_item as
from branded_food.current_food
semi join (from branded_food.version where is_current_of_gtin) using (fdc_id)
