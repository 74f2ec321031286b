create or replace view branded_food.nutrition as
with stated as (
  select
    *,
    list_transform(nutrients, lambda stated: stated.nutrient_id) as ids,
    list_transform(nutrients, lambda stated: stated.amount) as amounts
  from branded_food.food
  where serving_size is not null
),
-- In a list, so that the macro stands here once: written fifteen times, DuckDB took 50 ms to understand the view.
served as (
  select
    *,
    list_transform(
      [
        /*  1 calories */ coalesce(amounts[list_position(ids, 1008)], amounts[list_position(ids, 2047)], amounts[list_position(ids, 2048)]),
        /*  2 fat */ amounts[list_position(ids, 1004)],
        /*  3 saturated fat */ amounts[list_position(ids, 1258)],
        /*  4 trans fat */ amounts[list_position(ids, 1257)],
        /*  5 cholesterol */ amounts[list_position(ids, 1253)],
        /*  6 sodium */ amounts[list_position(ids, 1093)],
        /*  7 carbohydrates */ amounts[list_position(ids, 1005)],
        /*  8 fiber */ amounts[list_position(ids, 1079)],
        /*  9 sugars */ coalesce(amounts[list_position(ids, 2000)], amounts[list_position(ids, 1063)]),
        /* 10 added sugar */ amounts[list_position(ids, 1235)],
        /* 11 protein */ amounts[list_position(ids, 1003)],
        /* 12 calcium */ amounts[list_position(ids, 1087)],
        /* 13 iron */ amounts[list_position(ids, 1089)],
        /* 14 potassium */ amounts[list_position(ids, 1092)],
        /* 15 vitamin D */ coalesce(amounts[list_position(ids, 1114)], (amounts[list_position(ids, 1110)] * 0.025)::decimal(18, 6))
      ],
      lambda amount: branded_food.per_serving(amount, serving_size)
    ) as served
  from stated
)
select
  fdc_id,
  coalesce(label_calories::double, served[1]) as calories,
  coalesce(label_fat::double, served[2]) as fat,
  coalesce(label_saturated_fat::double, served[3]) as saturated_fat,
  coalesce(label_trans_fat::double, served[4]) as trans_fat,
  coalesce(label_cholesterol::double, served[5]) as cholesterol,
  coalesce(label_sodium::double, served[6]) as sodium,
  coalesce(label_carbohydrates::double, served[7]) as carbohydrates,
  coalesce(label_fiber::double, served[8]) as fiber,
  coalesce(label_sugars::double, served[9]) as sugars,
  coalesce(label_added_sugar::double, served[10]) as added_sugar,
  coalesce(label_protein::double, served[11]) as protein,
  coalesce(label_calcium::double, served[12]) as calcium,
  coalesce(label_iron::double, served[13]) as iron,
  coalesce(label_potassium::double, served[14]) as potassium,
  -- The unit of the label's own vitamin D is not documented: it is always derived from the nutrients.
  served[15] as vitamin_d
from served
