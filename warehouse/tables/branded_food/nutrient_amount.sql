create or replace view branded_food.nutrient_amount as
select
  fdc_id,
  stated.nutrient_id,
  stated.amount,
  stated.derivation_id,
  -- only the CSV release states them, for a few labels
  if(
    len(daily_values) > 0,
    list_filter(daily_values, lambda daily: daily.nutrient_id = stated.nutrient_id)[1].percent,
    null
  ) as percent_daily_value
from (select fdc_id, unnest(nutrients) as stated, daily_values from branded_food.food)
