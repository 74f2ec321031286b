/**
 * Checks of commodity data before publication. Each query returns the bad rows. `warehouse/publishing/check.ts` runs them, and
 * checks for all data sets that no row is lost.
 */
import type { Check } from "@larder/warehouse"
import { error, shrinkage, warning } from "../run/severity.ts"
import { thresholds } from "../run/thresholds.ts"
import { maxGapDays } from "./rhythm.ts"

const countPoints = (versions: string) =>
  `select count(*) from (select distinct metric_name, observed_on from ${versions})`

/** Every current value with its neighbours in time. `is_new`: this run published it. */
const neighbours = `
  select metric_name, frequency, feed, unit, observed_on, value, value_text, last_published_at,
    (metric_name, observed_on) in (
      select metric_name, observed_on from commodity.observation_version where run_id = getvariable('run_id')) as is_new,
    lag(observed_on) over series as day_before, lead(observed_on) over series as day_after,
    lag(value) over series as value_before, lead(value) over series as value_after
  from commodity.observation join commodity.metric using (metric_name)
  window series as (partition by metric_name order by observed_on)`

/** Each of its reports repeats the months of its year. */
const yearToDateFeed = "gov-mars/1623"

const gapDays = `case frequency ${Object.entries(maxGapDays)
  .map(([frequency, days]) => `when '${frequency}' then ${days}`)
  .join(" ")} end`

const lag = "last_published_at::date - observed_on"

/** Whether two neighbours differ by more than the limit, of the smaller one. */
const isJump = (value: string, other: string) =>
  thresholds.jump.sql(`abs(${value} - ${other})`, `least(abs(${value}), abs(${other}))`)

export const commodityChecks: ReadonlyArray<Check> = [
  // Runs only add points: there are fewer only if the warehouse was rebuilt, replaced or edited, or a merge lost some.
  shrinkage({
    name: "points_do_not_shrink",
    what: "points",
    before: countPoints("live.commodity.observation_version semi join live.commodity.metric using (metric_name)"),
    now: countPoints("commodity.observation_version semi join commodity.metric using (metric_name)"),
    percent: thresholds.pointShrinkage.value
  }),
  error(
    "catalog_is_consistent",
    "metric names and series slugs are unique, every series has its metric, every metric its product, and series are daily, weekly or monthly",
    `select metric_name as name, 'listed twice' as fault from commodity.metric group by all having count(*) > 1
     union all select slug, 'listed twice' from commodity.series group by all having count(*) > 1
     union all select slug, 'has no metric' from commodity.series anti join commodity.metric using (metric_name)
     union all select slug, 'is ' || frequency from commodity.series join commodity.metric using (metric_name)
       where frequency not in ('daily', 'weekly', 'monthly')
     union all select metric_name, 'has no product' from commodity.metric m
       where not exists (select 1 from commodity.product p where p.slug = m.product_slug)`
  ),
  error(
    "prices_are_positive",
    "every price is above zero; only a basis may be zero or negative",
    `select metric_name, observed_on, value_text from commodity.observation_version join commodity.metric using (metric_name)
     where value <= 0 and unit <> 'usd_per_lb_basis'`
  ),
  error(
    "values_have_metrics",
    "every value belongs to a metric of the catalog: a metric name is permanent",
    "select distinct metric_name from commodity.observation_version anti join commodity.metric using (metric_name)"
  ),
  warning(
    "closes_on_ticks",
    "spot closes are multiples of 0.0025 USD per pound",
    `select metric_name, observed_on, value_text from commodity.observation
     where metric_name like '%_exch_spot_close_daily' and value % 0.0025 <> 0`
  ),
  warning(
    "closes_on_weekdays",
    "spot closes are dated Monday to Friday",
    `select metric_name, observed_on from commodity.observation
     where metric_name like '%_exch_spot_close_daily' and isodow(observed_on) > 5`
  ),
  warning(
    "weekly_average_is_mean_of_closes",
    "a weekly spot average is the mean of that week's closes, to four decimals",
    `with weeks as (
       select replace(metric_name, '_close_daily', '_average_weekly') as metric_name,
         date_trunc('week', observed_on) as week, avg(value::double) as mean
       from commodity.observation where metric_name like '%_exch_spot_close_daily' group by all)
     select p.metric_name, p.observed_on, p.value_text, round(mean, 6) as mean_of_closes
     from commodity.observation p join weeks w on w.metric_name = p.metric_name and w.week = date_trunc('week', p.observed_on)
     where abs(p.value::double - mean) > 0.000051`
  ),
  warning(
    "new_values_are_near_their_neighbours",
    `a new value and the values next to it differ by at most ${thresholds.jump.value} % of the lower one; basis quotes excepted`,
    `select metric_name, observed_on, value_text, value_before, value_after from (${neighbours})
     where is_new and unit <> 'usd_per_lb_basis'
       and (coalesce(${isJump("value", "value_before")}, false) or coalesce(${isJump("value", "value_after")}, false))`
  ),
  warning(
    "new_days_follow_the_rhythm",
    "a new value has a neighbour within the usual gap of its frequency, except mostly ranges, which some reports rarely state; and a weekly one has the weekday of its series",
    `with weekday as (
       select metric_name, mode(isodow(observed_on)) as weekday from commodity.observation
       join commodity.metric using (metric_name) where frequency = 'weekly' group by all)
     select metric_name, observed_on, value_text, day_before, day_after
     from (${neighbours}) left join weekday using (metric_name)
     where is_new and (isodow(observed_on) <> weekday
       or not contains(metric_name, '_mostly_') and least(coalesce(observed_on - day_before, day_after - observed_on), coalesce(day_after - observed_on, observed_on - day_before)) > ${gapDays})`
  ),
  warning(
    "new_years_fit_their_publication",
    "a new value is not much older than its publication",
    `select metric_name, observed_on, value_text, last_published_at from (${neighbours})
     where is_new and if(feed = '${yearToDateFeed}', ${thresholds.yearToDateLag.sql(lag)}, ${thresholds.publicationLag.sql(lag)})`
  ),
  warning(
    "mostly_within_range",
    "low ≤ mostly low ≤ mostly high ≤ high",
    `with ranges as (
       select regexp_replace(metric_name, '_(price_min|price_max|mostly_low|mostly_high)_', '_') as quote, observed_on,
         max(value) filter (where metric_name like '%_price_min_%') as low,
         max(value) filter (where metric_name like '%_mostly_low_%') as mostly_low,
         max(value) filter (where metric_name like '%_mostly_high_%') as mostly_high,
         max(value) filter (where metric_name like '%_price_max_%') as high
       from commodity.observation group by all)
     select * from ranges where low > high or mostly_low < low or mostly_high > high or mostly_low > mostly_high`
  ),
  warning(
    "class_iv_follows_its_formula",
    "the Class IV price follows from the month's butter and nonfat dry milk averages, within 0.01 USD per hundredweight",
    // Make allowances and the nonfat solids factor as amended for June and December 2025.
    `with months as (
       select observed_on,
         max(value) filter (where metric_name = 'milk_class_iv_price_monthly') as announced,
         max(value) filter (where metric_name = 'butter_survey_average_monthly') as butter,
         max(value) filter (where metric_name = 'nonfat_dry_milk_survey_average_monthly') as powder,
         observed_on >= date '2025-06-01' as amended,
         if(observed_on >= date '2025-12-01', 9.3, 9.0) as solids
       from commodity.observation group by observed_on),
     parts as (
       select observed_on, announced, solids,
         round((butter - if(amended, 0.2272, 0.1715)) * 1.211, 4) as butterfat,
         round((powder - if(amended, 0.2393, 0.1678)) * 0.99, 4) as nonfat_solids
       from months where announced is not null and butter is not null and powder is not null)
     select observed_on, announced, round(0.965 * round(nonfat_solids * solids, 2) + 3.5 * butterfat, 2) as by_formula
     from parts where abs(announced - by_formula) > 0.0101`
  ),
  warning(
    "metrics_have_values",
    "every metric that runs read has at least one value, except those that reports print only sometimes or never",
    "select metric_name, no_values_reason from commodity.metric anti join commodity.inactive on subject = metric_name where observations = 0 and printed = 'always'"
  )
]
