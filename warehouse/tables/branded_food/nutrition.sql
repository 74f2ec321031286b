create or replace view branded_food.nutrition as
with serving as (
  select
    *,
    branded_food.serving_amount(serving_size, serving_size_unit) as serving_amount,
    list_transform(nutrients, lambda nutrient: nutrient.nutrient_id) as ids,
    list_transform(nutrients, lambda nutrient: nutrient.amount) as amounts
  from branded_food.food
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
  -- without a serving size, a label's own amounts are of nothing known
  coalesce(if(serving_size is not null, label_calories, null)::double, branded_food.per_serving(calories, serving_amount)) as calories,
  coalesce(if(serving_size is not null, label_fat, null)::double, branded_food.per_serving(fat, serving_amount)) as fat,
  coalesce(if(serving_size is not null, label_saturated_fat, null)::double, branded_food.per_serving(saturated_fat, serving_amount)) as saturated_fat,
  coalesce(if(serving_size is not null, label_trans_fat, null)::double, branded_food.per_serving(trans_fat, serving_amount)) as trans_fat,
  coalesce(if(serving_size is not null, label_cholesterol, null)::double, branded_food.per_serving(cholesterol, serving_amount)) as cholesterol,
  coalesce(if(serving_size is not null, label_sodium, null)::double, branded_food.per_serving(sodium, serving_amount)) as sodium,
  coalesce(if(serving_size is not null, label_carbohydrates, null)::double, branded_food.per_serving(carbohydrates, serving_amount)) as carbohydrates,
  coalesce(if(serving_size is not null, label_fiber, null)::double, branded_food.per_serving(fiber, serving_amount)) as fiber,
  coalesce(if(serving_size is not null, label_sugars, null)::double, branded_food.per_serving(sugars, serving_amount)) as sugars,
  coalesce(if(serving_size is not null, label_added_sugar, null)::double, branded_food.per_serving(added_sugar, serving_amount)) as added_sugar,
  coalesce(if(serving_size is not null, label_protein, null)::double, branded_food.per_serving(protein, serving_amount)) as protein,
  coalesce(if(serving_size is not null, label_calcium, null)::double, branded_food.per_serving(calcium, serving_amount)) as calcium,
  coalesce(if(serving_size is not null, label_iron, null)::double, branded_food.per_serving(iron, serving_amount)) as iron,
  coalesce(if(serving_size is not null, label_potassium, null)::double, branded_food.per_serving(potassium, serving_amount)) as potassium,
  -- The unit of the label's own vitamin D is not documented, so vitamin D is always derived from the nutrients.
  branded_food.per_serving(vitamin_d, serving_amount) as vitamin_d
from amount
