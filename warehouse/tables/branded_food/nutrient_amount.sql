create or replace view branded_food.nutrient_amount as
select
  fdc_id,
  place::integer as position,
  nutrient.nutrient_id,
  nutrient.amount::decimal(19, 6) as amount, -- see wider-numbers.ts
  nutrient.derivation_id,
  -- Only the CSV release has daily values, for a few labels. A nutrient that occurs twice has two, in the order of its amounts.
  if(
    len(daily_values) > 0,
    list_filter(daily_values, lambda daily: daily.nutrient_id = nutrient.nutrient_id)[
      place - list_position(list_transform(nutrients, lambda other: other.nutrient_id), nutrient.nutrient_id) + 1
    ].percent::decimal(19, 2),
    null
  ) as percent_daily_value
from (
  select fdc_id, unnest(nutrients) as nutrient, generate_subscripts(nutrients, 1) as place, nutrients, daily_values
  from branded_food.food
)
