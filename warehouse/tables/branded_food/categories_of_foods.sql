-- Spellings that differ only in case are one category, under the spelling of most of its labels. The search groups them in the
-- same way: its `categoryKey` must match the grouping here, including İ and the three forms of sigma.
select arg_max(category, (labels, category)) as category, sum(labels)::integer as product_count
from (
  select category, count(*) as labels
  from branded_food.current_food
  where category is not null
  group by category
)
group by replace(lower(replace(category, 'İ', 'i' || chr(775))), 'ς', 'σ')
order by 1
