create or replace view branded_food.quality_flag as
select fdc_id, unnest(quality_flags) as flag
from branded_food.food
