-- versions_of_foods.sql sets is_current
create or replace view branded_food.current_food as
select
  * replace ({{wider_numbers}}),
  case
    when discontinued_on is not null then true
    when list_contains(quality_flags, 'discontinued_unreadable') then null
    else false
  end as is_discontinued
from branded_food.food
semi join (from branded_food.version where is_current) using (fdc_id)
