-- An analyst's notebook: thirteen questions about the three data sets. Each is one query, with its reason.
--
--   duckdb -cmd "attach 'data/warehouse/larder.duckdb' as larder (read_only); use larder" < examples/analysis.sql
--
-- Any DuckDB client of version 1.5 or newer works. Each query reads the data that is live when it starts, even while Larder
-- ingests; between `begin` and `commit`, all queries read the same data. Every table and column has a comment:
-- `select table_name, column_name, comment from duckdb_columns()` is the data dictionary.


-- 1. How recent is the data? The last run of each pipeline that published new rows and was not rolled back.
select pipeline, generation, finished_at, rows_loaded, rows_rejected
from ingest.live_run
where rows_loaded > 0
qualify row_number() over (partition by pipeline order by finished_at desc) = 1
order by pipeline;


-- PRICES ---------------------------------------------------------------------------------------------------------------
-- `value` is a decimal for arithmetic; `value_text` has the digits as the report printed them.

-- 2. What do manufacturers get for butter, compared with the exchange's price in the same week? Much butter is sold by contract
--    at the exchange's price of earlier weeks, so the survey price usually follows it.
select
  survey.observed_on as week_ending,
  survey.value as survey_price,
  avg(spot.value)::decimal(18, 4) as spot_price,
  (survey.value - avg(spot.value))::decimal(18, 4) as difference
from commodity.observation survey
join commodity.observation spot
  on spot.metric_name = 'butter_exch_spot_close_daily'
  and spot.observed_on between survey.observed_on - 6 and survey.observed_on
where survey.metric_name = 'butter_sales_price_weekly'
group by survey.observed_on, survey.value
order by week_ending desc
limit 8;

-- 3. How much are weekly survey prices revised? The first published value and the current one, over the last 52 weeks of each.
with first_print as (
  select metric_name, observed_on, first(value order by published_at, revision_status desc) as first_value
  from commodity.observation_version
  where metric_name like '%_sales_price_weekly'
  group by metric_name, observed_on
)
select
  slug,
  count(*) as weeks,
  count(*) filter (first_value <> value) as revised,
  round(100 * avg(abs(value - first_value)), 3) as mean_change_in_cents,
  round(100 * max(abs(value - first_value)), 2) as largest_change_in_cents
from first_print
join commodity.observation using (metric_name, observed_on)
join commodity.metric using (metric_name)
join commodity.series using (metric_name)
where observed_on > last_observed_on - 364
group by slug
order by slug;

-- 4. Which prices known at the end of 10 July have been revised since? A backtest needs `observation_as_of`, which excludes later
--    revisions. A day includes what was published on it; a time is in the report's local time.
select slug, observed_on, early.value as known_then, late.value as known_now
from commodity.observation_as_of('2026-07-10') early
join commodity.observation late using (metric_name, observed_on)
join commodity.series using (metric_name)
where early.value <> late.value
order by slug, observed_on;


-- FOODS ----------------------------------------------------------------------------------------------------------------
-- `current_food` has one label per product, `food` all versions of all labels. Amounts in `nutrition` are per serving. A value
-- that a label does not state is null, never 0.

-- 5. Which categories are the saltiest, per serving? Labels that look wrong are excluded.
select
  category,
  count(*) as labels,
  round(median(calories)) as kcal,
  round(median(sodium)) as sodium_mg
from branded_food.current_food
join branded_food.nutrition using (fdc_id)
where fdc_id not in (from branded_food.quality_flag select fdc_id)
group by category
having count(sodium) >= 10
order by sodium_mg desc, category
limit 10;

-- 6. Which bars have the most protein for their energy? Per 100 kcal, because servings differ in size.
select description, brand_owner, serving_size, serving_size_unit_normalized as unit, calories, protein,
  round(100 * protein / calories, 1) as protein_per_100_kcal
from branded_food.current_food
join branded_food.nutrition using (fdc_id)
where category = 'Snack, Energy & Granola Bars' and calories >= 50
  and fdc_id not in (from branded_food.quality_flag select fdc_id)
order by protein_per_100_kcal desc, fdc_id
limit 5;

-- 7. Which recipes have changed? Products whose sugars per serving changed by a fifth or more from one label to the next, for
--    the same serving, without labels that look wrong. `materialized` makes DuckDB compute each label once, before the join by
--    id. Otherwise, DuckDB may first join all labels with equal servings, which are far too many pairs.
with label as materialized (
  select fdc_id, replaced_by, description, brand_owner, serving_size, serving_size_unit_normalized as unit, sugars,
    food.published_on
  from branded_food.food
  join branded_food.nutrition using (fdc_id)
  join branded_food.version using (fdc_id)
  where fdc_id not in (from branded_food.quality_flag select fdc_id)
)
select
  new_label.description,
  new_label.brand_owner,
  old_label.sugars as sugars_before,
  new_label.sugars as sugars_after,
  old_label.published_on as published_before,
  new_label.published_on as published_after
from label old_label
join label new_label on new_label.fdc_id = old_label.replaced_by
where old_label.serving_size = new_label.serving_size
  and old_label.unit = new_label.unit
  and old_label.sugars >= 1
  and abs(new_label.sugars - old_label.sugars) >= 0.2 * old_label.sugars
order by abs(sugars_after - sugars_before) desc, new_label.fdc_id
limit 10;


-- STORES ---------------------------------------------------------------------------------------------------------------
-- `product` and `variant` also have items that a store no longer lists, as last read; `listing` has what it lists now.

-- 8. Which prices are reduced now, and by how much?
select store.name as store, product.title as product, variant.title as variant, variant.price, variant.compare_at_price,
  variant.currency, round(100 * (1 - variant.price / variant.compare_at_price)) as percent_off
from storefront.variant
join storefront.product using (product_id)
join storefront.store on store.store_id = variant.store_id
semi join storefront.listing using (product_id)
where variant.compare_at_price is not null
order by percent_off desc, variant_id
limit 10;

-- 9. Which prices have changed, and when? Each row of `variant_change` has the values from that read on. After the first read of
--    a store, no price has changed yet.
select store.name as store, product.title as product, variant.title as variant, seen_at, price_before,
  history.price as price_after, round(100 * (history.price / price_before - 1), 1) as percent
from (
  select *, lag(price) over (partition by variant_id order by seen_at) as price_before
  from storefront.variant_change
) history
join storefront.product using (product_id)
join storefront.variant using (variant_id)
join storefront.store on store.store_id = history.store_id
where history.price <> price_before
order by seen_at desc, variant_id;

-- 10. What does a kilo cost, by kind of food? `category` is the top level of the taxonomy, `sub_category` a finer one.
select sub_category, variant.currency, count(*) as variants, round(median(variant.price / (grams / 1000)), 2) as per_kg
from storefront.variant
join storefront.product using (product_id)
semi join storefront.listing using (product_id)
where grams > 0 and variant.price > 0 and category = 'food_beverages_and_tobacco'
group by all
having count(*) >= 5
order by per_kg desc, sub_category, currency;


-- TRUST ----------------------------------------------------------------------------------------------------------------

-- 11. Where does this number come from? The payload with the current butter price, and the row in it. The raw archive contains
--     the payload under its SHA-256.
select observed_on, value_text, published_at, revision_status, source_row, observation_version.fetched_at, url, raw_sha256
from commodity.observation_version
join ingest.raw_file using (raw_sha256)
where metric_name = 'butter_sales_price_weekly'
order by observed_on desc, published_at desc, revision_status, source_row desc, url
limit 1;

-- 12. What could not be read, and why? Nothing is dropped silently: read = loaded + unchanged + rejected, for every run. The
--     rejected rows of failed and rolled-back runs are in `ingest.reject`.
select pipeline, feed, position, reason, left(payload, 60) as payload
from ingest.live_reject
order by pipeline, feed, position, reason;

-- 13. What was checked before this data went live? If a check of severity `error` finds a row, the run is not published.
--     The rows that a check of severity `warning` found are counted here.
select pipeline, severity, count(*) as checks, coalesce(sum(bad_rows), 0)::bigint as rows_found,
  list(name order by name) filter (bad_rows > 0) as found_by
from ingest.check_result
semi join ingest.live_run using (run_id)
group by pipeline, severity
order by pipeline, severity;
