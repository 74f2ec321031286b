-- Spellings that differ in case only are one category, under the spelling of most of its labels: the search takes them so, too.
select arg_max(category, (labels, category)) as category, sum(labels)::integer as product_count
from (
  select category, count(*) as labels
  from branded_food.current_food
  where category is not null
  group by category
)
group by lower(category)
order by 1
