create or replace view branded_food.nutrition as
with serving as (
  select
    *,
    branded_food.serving_amount(serving_size, serving_size_unit) as serving_amount,
    list_transform(nutrients, lambda nutrient: nutrient.nutrient_id) as ids,
    list_transform(nutrients, lambda nutrient: nutrient.amount) as amounts
  from branded_food.food
  where serving_size is not null
),
amount as (
  select
    *,
    coalesce(amounts[list_position(ids, 1008)], amounts[list_position(ids, 2047)], amounts[list_position(ids, 2048)]) as calories,
    amounts[list_position(ids, 1004)] as fat,
    amounts[list_position(ids, 1258)] as saturated_fat,
    amounts[list_position(ids, 1257)] as trans_fat,
    amounts[list_position(ids, 1253)] as cholesterol,
    amounts[list_position(ids, 1093)] as sodium,
    amounts[list_position(ids, 1005)] as carbohydrates,
    amounts[list_position(ids, 1079)] as fiber,
    coalesce(amounts[list_position(ids, 2000)], amounts[list_position(ids, 1063)]) as sugars,
    amounts[list_position(ids, 1235)] as added_sugar,
    amounts[list_position(ids, 1003)] as protein,
    amounts[list_position(ids, 1087)] as calcium,
    amounts[list_position(ids, 1089)] as iron,
    amounts[list_position(ids, 1092)] as potassium,
    coalesce(amounts[list_position(ids, 1114)], (amounts[list_position(ids, 1110)] * 0.025)::decimal(18, 6)) as vitamin_d
  from serving
)
select
  fdc_id,
  coalesce(label_calories::double, branded_food.per_serving(calories, serving_amount)) as calories,
  coalesce(label_fat::double, branded_food.per_serving(fat, serving_amount)) as fat,
  coalesce(label_saturated_fat::double, branded_food.per_serving(saturated_fat, serving_amount)) as saturated_fat,
  coalesce(label_trans_fat::double, branded_food.per_serving(trans_fat, serving_amount)) as trans_fat,
  coalesce(label_cholesterol::double, branded_food.per_serving(cholesterol, serving_amount)) as cholesterol,
  coalesce(label_sodium::double, branded_food.per_serving(sodium, serving_amount)) as sodium,
  coalesce(label_carbohydrates::double, branded_food.per_serving(carbohydrates, serving_amount)) as carbohydrates,
  coalesce(label_fiber::double, branded_food.per_serving(fiber, serving_amount)) as fiber,
  coalesce(label_sugars::double, branded_food.per_serving(sugars, serving_amount)) as sugars,
  coalesce(label_added_sugar::double, branded_food.per_serving(added_sugar, serving_amount)) as added_sugar,
  coalesce(label_protein::double, branded_food.per_serving(protein, serving_amount)) as protein,
  coalesce(label_calcium::double, branded_food.per_serving(calcium, serving_amount)) as calcium,
  coalesce(label_iron::double, branded_food.per_serving(iron, serving_amount)) as iron,
  coalesce(label_potassium::double, branded_food.per_serving(potassium, serving_amount)) as potassium,
  -- The unit of the label's own vitamin D is not documented, so vitamin D is always derived from the nutrients.
  branded_food.per_serving(vitamin_d, serving_amount) as vitamin_d
from amount
-- a label without a serving size has a row, too
union all by name
select fdc_id from branded_food.food where serving_size is null
