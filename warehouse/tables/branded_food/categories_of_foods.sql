select category, count(*) as product_count
from branded_food.current_food
where category is not null
group by category
order by category
