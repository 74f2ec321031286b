-- Spellings that differ in case only are one category, under the spelling of most of its labels. The search takes them so,
-- too: `categoryKey` there and the grouping here must not differ, also not for İ and the three letters that are sigma.
select arg_max(category, (labels, category)) as category, sum(labels)::integer as product_count
from (
  select category, count(*) as labels
  from branded_food.current_food
  where category is not null
  group by category
)
group by replace(lower(replace(category, 'İ', 'i' || chr(775))), 'ς', 'σ')
order by 1
