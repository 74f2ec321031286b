-- versions_of_foods.sql sets is_current
create or replace view branded_food.current_food as
select
  -- see commodity.observation
  * replace (
    serving_size::decimal(19, 6) as serving_size,
    label_calories::decimal(19, 6) as label_calories,
    label_fat::decimal(19, 6) as label_fat,
    label_saturated_fat::decimal(19, 6) as label_saturated_fat,
    label_trans_fat::decimal(19, 6) as label_trans_fat,
    label_cholesterol::decimal(19, 6) as label_cholesterol,
    label_sodium::decimal(19, 6) as label_sodium,
    label_carbohydrates::decimal(19, 6) as label_carbohydrates,
    label_fiber::decimal(19, 6) as label_fiber,
    label_sugars::decimal(19, 6) as label_sugars,
    label_added_sugar::decimal(19, 6) as label_added_sugar,
    label_protein::decimal(19, 6) as label_protein,
    label_calcium::decimal(19, 6) as label_calcium,
    label_iron::decimal(19, 6) as label_iron,
    label_potassium::decimal(19, 6) as label_potassium,
    label_vitamin_d::decimal(19, 6) as label_vitamin_d
  ),
  case
    when discontinued_on is not null then true
    when list_contains(quality_flags, 'discontinued_unreadable') then null
    else false
  end as is_discontinued
from branded_food.food
semi join (from branded_food.version where is_current) using (fdc_id)
