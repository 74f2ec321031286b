-- An analyst's notebook: fourteen questions about the three data sets. Each is one query, with its reason.
--
--   duckdb -cmd "attach 'data/warehouse/larder.duckdb' as larder (read_only); use larder" < examples/analysis.sql
--
-- Any DuckDB client of version 1.5 or newer works. Each query reads the data that is live when it starts, even while Larder
-- ingests; between `begin` and `commit`, all queries read the same data. Every table and column has a comment:
-- `select table_name, column_name, comment from duckdb_columns()` is the data dictionary.


-- PRICES ---------------------------------------------------------------------------------------------------------------
-- `value` is a decimal for arithmetic; `value_text` has the digits as the report printed them.

-- 1. Moving averages: is butter cheaper than usual? Windows of days, not of rows: a week without a survey, as in a government
--    shutdown, is missing, so an average over it is null.
select
  week,
  value as price,
  if(count(*) over month = 4, avg(value) over month, null)::decimal(18, 6) as mean_of_4_weeks,
  if(count(*) over year = 52, avg(value) over year, null)::decimal(18, 6) as mean_of_52_weeks
from commodity.weekly('butter_sales_price_weekly')
window
  month as (order by week range between interval 21 days preceding and current row),
  year as (order by week range between interval 357 days preceding and current row)
order by week desc
limit 12;

-- 2. Year on year: how do prices compare with the same month a year earlier? Dairy prices have seasons, so the month before says
--    less. The average is the report's own: `commodity.monthly` does not weight the weeks, and a week counts to the month in which
--    it ends.
with by_month as materialized (
  select observed_on as month, value
  from commodity.observation
  where metric_name = 'butter_survey_average_monthly'
)
select
  later.month,
  later.value as price,
  earlier.value as a_year_earlier,
  round(100 * (later.value / earlier.value - 1), 1) as percent
from by_month later
join by_month earlier on later.month = (earlier.month + interval 1 year)::date
order by later.month desc
limit 12;

-- 3. Spread of blocks and barrels: both are cheddar, and barrels are for processing. A wide spread shows that one of the two is
--    scarce. The exchange quotes both; the survey has not had barrels since June 2025. Only days with both prices count, and the
--    newest week may have begun only now: see `days`.
with by_week as (
  select
    date_trunc('week', observed_on)::date as week,
    count(*) as days,
    avg(block.value) as block_price,
    avg(barrel.value) as barrel_price,
    100 * avg(block.value - barrel.value) as spread
  from commodity.observation block
  join commodity.observation barrel using (observed_on)
  where block.metric_name = 'cheese_block_exch_spot_close_daily' and barrel.metric_name = 'cheese_barrel_exch_spot_close_daily'
  group by week
)
select
  week,
  days,
  block_price::decimal(18, 6) as block_price,
  barrel_price::decimal(18, 6) as barrel_price,
  spread::decimal(18, 4) as spread_in_cents,
  if(count(*) over year = 52, avg(spread) over year, null)::decimal(18, 4) as mean_of_52_weeks
from by_week
window year as (order by week range between interval 357 days preceding and current row)
order by week desc
limit 12;

-- 4. Class III: the price of milk for cheese follows from the survey's monthly averages by the formula of the federal orders (7 CFR
--    1000.50), which rounds at each step. The allowances for making the products changed in June 2025, the solids in a
--    hundredweight of skim milk in December 2025. A difference to the announced price would be an error in one of the two.
with average as (
  select
    observed_on as month,
    any_value(value) filter (metric_name = 'cheese_survey_average_monthly') as cheese,
    any_value(value) filter (metric_name = 'butter_survey_average_monthly') as butter,
    any_value(value) filter (metric_name = 'dry_whey_survey_average_monthly') as whey,
    any_value(value) filter (metric_name = 'milk_class_iii_price_monthly') as announced
  from commodity.observation
  where metric_name in (
    'cheese_survey_average_monthly',
    'butter_survey_average_monthly',
    'dry_whey_survey_average_monthly',
    'milk_class_iii_price_monthly'
  )
  group by observed_on
),
formula (since, cheese_allowance, butter_allowance, whey_allowance, butterfat_recovery, protein_pounds, other_pounds) as (
  values
    (date '2008-10-01', 0.2003, 0.1715, 0.1991, 0.90, 3.1, 5.9),
    (date '2025-06-01', 0.2519, 0.2272, 0.2668, 0.91, 3.1, 5.9),
    (date '2025-12-01', 0.2519, 0.2272, 0.2668, 0.91, 3.3, 6.0)
),
component as (
  select
    *,
    cheese - cheese_allowance as margin,
    round((butter - butter_allowance) * 1.211, 4) as butterfat,
    round(margin * 1.383 + (margin * 1.572 - butterfat * butterfat_recovery) * 1.17, 4) as protein,
    round((whey - whey_allowance) * 1.03, 4) as other_solids,
    round(protein * protein_pounds + other_solids * other_pounds, 2) as skim
  from average
  asof join formula on month >= since
)
select
  month,
  protein,
  other_solids,
  butterfat,
  round(0.965 * skim + 3.5 * butterfat, 2) as computed,
  announced::decimal(18, 2) as announced,
  (computed - announced)::decimal(18, 2) as difference
from component
order by month desc
limit 24;

-- 5. First against final: how much are weekly survey prices revised until they are final? The last year of each. A model that is
--    tested on final prices knows more than anyone did at the time. Each view has the condition of its own: DuckDB does not carry
--    a `like` from one side of a join to the other, and would compute the other view for all metrics.
with first_print as (
  select metric_name, observed_on, arg_min(value, realtime_start) as first_value
  from commodity.vintage
  where metric_name like '%_sales_price_weekly'
  group by metric_name, observed_on
),
final_print as (
  select metric_name, observed_on, value
  from commodity.observation
  where metric_name like '%_sales_price_weekly' and revision_status = 'final'
)
select
  title,
  count(*) as final_weeks,
  count(*) filter (first_value <> value) as revised,
  round(100 * avg(abs(value - first_value)), 3) as mean_change_in_cents,
  round(100 * max(abs(value - first_value)), 2) as largest_change_in_cents
from first_print
join final_print using (metric_name, observed_on)
join commodity.metric using (metric_name)
where observed_on > last_observed_on - 364
group by title
order by title;

-- 6. As of: which survey prices that were known at the end of 10 July have been revised since? A backtest needs
--    `observation_as_of`, which excludes later revisions. A day includes what was published on it; a time is in the report's
--    local time.
select
  title,
  observed_on,
  early.value as known_then,
  early.first_published_at as published,
  late.value as known_now,
  late.first_published_at as revised
from commodity.observation_as_of('2026-07-10') early
join commodity.observation late using (metric_name, observed_on)
join commodity.metric using (metric_name)
where early.metric_name like '%_sales_price_weekly'
  and late.metric_name like '%_sales_price_weekly'
  and early.value <> late.value
order by title, observed_on;


-- FOODS ----------------------------------------------------------------------------------------------------------------
-- `trade_item` has one label per barcode, the newest of all sources, `food` all versions of all labels. Labels without a barcode
-- are left out of `trade_item`: `current_food` has them. Amounts in `nutrition` are per serving. A value that a label does not
-- state is null, never 0.

-- 7. Sodium by category: which are the saltiest? Per 100 kcal too, because servings differ in size. Labels that look wrong are
--    excluded, and labels without a barcode, or that do not state sodium, are not counted.
select
  category,
  count(sodium) as labels,
  round(median(sodium)) as mg_per_serving,
  round(median(100 * sodium / nullif(calories, 0))) as mg_per_100_kcal
from branded_food.trade_item
join branded_food.nutrition using (fdc_id)
anti join branded_food.quality_flag using (fdc_id)
where category is not null
group by category
having count(sodium) >= 10
order by mg_per_serving desc, category
limit 10;

-- 8. Changed ingredients: what did the newest recipes add and remove? Case and punctuation count for nothing. If both are empty,
--    only the order has changed: a list begins with what there is most of. Splitting a list takes a while, so only the thousand
--    newest labels with another text are compared; `materialized` makes DuckDB pick them first.
with relabelled as materialized (
  select
    new_label.fdc_id,
    new_label.description,
    new_label.brand_owner,
    old_label.published_on as published_before,
    new_label.published_on as published_after,
    [old_label.ingredients, new_label.ingredients] as texts
  from branded_food.version
  join branded_food.food old_label using (fdc_id)
  join branded_food.food new_label on new_label.fdc_id = replaced_by
  where new_label.ingredients <> old_label.ingredients
  order by published_after desc, new_label.fdc_id
  limit 1000
),
split as (
  select
    *,
    list_transform(
      texts,
      lambda text: list_transform(
        string_split(upper(text), ','),
        lambda ingredient: trim(regexp_replace(ingredient, '[^\pL\pN%]+', ' ', 'g'))
      )
    ) as ingredients
  from relabelled
)
select
  description,
  brand_owner,
  published_before,
  published_after,
  list_filter(ingredients[2], lambda ingredient: not list_contains(ingredients[1], ingredient)) as added,
  list_filter(ingredients[1], lambda ingredient: not list_contains(ingredients[2], ingredient)) as removed
from split
where ingredients[1] <> ingredients[2]
order by published_after desc, fdc_id
limit 10;

-- 9. Brands: which companies have the most products? Labels spell one company in several ways, so case, punctuation and the legal
--    form do not count. `spellings` shows what was counted as one: check it before you rely on a name. A product is a barcode: labels
--    without one are not counted.
with product as (
  select
    brand_owner,
    brand_name,
    category,
    regexp_replace(
      trim(regexp_replace(replace(lower(brand_owner), '.', ''), '[^\pL\pN]+', ' ', 'g')),
      '( (inc|llc|ltd|lp|co|company|corp|corporation))+$',
      ''
    ) as company
  from branded_food.trade_item
  where brand_owner is not null
)
select
  company,
  count(*) as products,
  count(distinct brand_name) as brands,
  count(distinct category) as categories,
  list(distinct brand_owner order by brand_owner) as spellings
from product
group by company
order by products desc, company
limit 10;


-- STORES ---------------------------------------------------------------------------------------------------------------
-- `product` and `variant` also have items that a store no longer lists, as last read; `listing` has what it lists now.

-- 10. Price changes between two reads: what is dearer or cheaper than a week ago? `variant_as_of` takes any two times, in UTC. A
--     fresh install has no rows: no price has changed before a second read, and a store has no earlier price in its first week.
select
  store.name as store,
  product.title as product,
  variant.title as variant,
  early.price as price_before,
  late.price as price_now,
  late.currency,
  round(100 * (late.price / nullif(early.price, 0) - 1), 1) as percent,
  late.seen_at as seen_at
from storefront.variant_as_of(make_timestamp(epoch_us(now())) - interval 7 days) early
join storefront.variant_as_of(now()) late using (variant_id)
join storefront.variant using (variant_id)
join storefront.product on product.product_id = late.product_id
join storefront.store on store.store_id = late.store_id
where early.price <> late.price and early.currency is not distinct from late.currency
order by abs(percent) desc nulls last, variant_id
limit 20;


-- TRUST ----------------------------------------------------------------------------------------------------------------

-- 11. What is late? Each metric, form of a release and store is expected at a time of its own. One row per state, with the
--     subject that has been late for longest, or will be late first. Bundled samples are never late.
select
  state,
  pipeline,
  kind,
  count(*) as subjects,
  min(newest_on) as least_recent,
  first(subject order by late_at, subject) as example,
  first(why order by late_at, subject) as why
from ingest.freshness
group by state, pipeline, kind
order by state, pipeline, kind;

-- 12. Tracing to bytes: where does this number come from? The payload with the newest butter price, by its SHA-256, and the row in
--     it, counted from 1. `npx larder-ingest raw SHA` prints the payload, byte for byte. Only the survey has a `revision_status`:
--     for other metrics it is null, which `using` would not match.
select
  observation.observed_on,
  observation.value_text,
  observation.revision_status,
  published_at,
  raw_sha256,
  source_row,
  live_raw_file.bytes,
  live_raw_file.url
from commodity.observation
join commodity.observation_version version
  on version.metric_name = observation.metric_name
  and version.observed_on = observation.observed_on
  and version.value = observation.value
  and version.revision_status is not distinct from observation.revision_status
join ingest.live_raw_file using (raw_sha256)
where observation.metric_name = 'butter_sales_price_weekly' and published_at = last_published_at
order by observation.observed_on desc, source_row desc, live_raw_file.url
limit 1;


-- EXPORT ---------------------------------------------------------------------------------------------------------------

-- 13. Tidy and wide: `tidy` has one row per month and metric, as statistics programs want it, and `pivot` makes a column of each
--     metric, as a spreadsheet wants it. `copy (…) to 'milk.csv'`, with the query in the parentheses, writes a file.
with tidy as (
  select observed_on as month, metric_name, value::decimal(18, 2) as price
  from commodity.observation
  where metric_name similar to 'milk_class_(i|ii|iii|iv)_price_monthly'
)
from (
  pivot tidy
  on metric_name in (
    'milk_class_i_price_monthly' as class_i,
    'milk_class_ii_price_monthly' as class_ii,
    'milk_class_iii_price_monthly' as class_iii,
    'milk_class_iv_price_monthly' as class_iv
  )
  using any_value(price)
  group by month
)
order by month desc
limit 24;

-- 14. A chart's data: exactly one row per point, with date, series and value. The survey's weeks end on Saturday and the exchange's
--     on Friday: `weekly` gives both the Monday of their week, so that points lie above each other.
select week as date, title as series, price.value::double as value
from (
  select 'butter_sales_price_weekly' as metric_name, week, value
  from commodity.weekly('butter_sales_price_weekly')
  union all
  select 'butter_exch_spot_average_weekly', week, value
  from commodity.weekly('butter_exch_spot_average_weekly')
) price
join commodity.metric using (metric_name)
where week > last_observed_on - 364
order by series, date;
