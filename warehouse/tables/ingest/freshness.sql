create or replace view ingest.freshness as
with clock as (
  -- `at time zone` would need the extension ICU, which not every client has
  select make_timestamp(epoch_us(now())) as moment
),
-- that the last attempt failed takes precedence over a part that is missing
missing as (
  select
    pipeline,
    feed,
    arg_max(kind, (kind <> 'partial')::integer) as left_out,
    left(regexp_replace(trim(arg_max(reason, (kind <> 'partial')::integer)), '\s+', ' ', 'g'), 300) as reason
  from ingest.live_left_out
  group by pipeline, feed
),
payload as (
  select pipeline, feed, run_id, max(try_cast(regexp_extract(url, '\d{4}-\d\d-\d\d') as date)) as released_on
  from ingest.raw_file
  where pipeline <> 'storefronts'
  group by pipeline, feed, run_id
),
feed as (
  select pipeline, feed, min(recorded_in) as first_recorded_in, max(released_on) as newest_on
  from payload
  join ingest.live_run using (run_id, pipeline)
  group by pipeline, feed
),
-- A live run reads each feed that it does not leave out, and records no payload that is known. Other runs may be of some
-- feeds only.
feed_read as (
  select pipeline, feed, max(finished_at) as last_complete_read_at
  from feed
  join ingest.live_run as run using (pipeline)
  left join payload using (pipeline, feed, run_id)
  left join (select run_id, feed, kind from ingest.left_out where kind <> 'partial') as skipped using (run_id, feed)
  where window_from is null
    and recorded_in >= first_recorded_in
    and skipped.kind is null
    and (origin = 'live' or payload.pipeline is not null)
  group by pipeline, feed
),

-- metrics: by the schedule of their report, which prints some of its numbers only now and then
report as (
  select
    feed,
    any_value(frequency) as frequency,
    any_value(publishes_on) as publishes_on,
    max(last_observed_on)::date as read_to
  from commodity.metric
  group by feed
),
next_month as (
  select feed, min((read_to + to_months(step))::date) as observed_on
  from report, (select unnest(range(1, 13))::integer as step) as later
  where frequency = 'monthly'
    and (not contains(publishes_on, ', for ') or contains(publishes_on, monthname(read_to + to_months(step))))
  group by feed
),
next_period as (
  select
    feed,
    read_to,
    publishes_on,
    if(frequency = 'daily', 1, 2) as grace_days,
    case frequency
      when 'daily' then read_to + case isodow(read_to) when 5 then 3 when 6 then 2 else 1 end
      when 'weekly' then read_to + 7
      when 'biweekly' then read_to + 14
      when 'monthly' then observed_on
      when 'annual' then (read_to + interval 1 year)::date
    end as next_on,
    case frequency
      when 'monthly' then last_day(next_on)
      when 'annual' then make_date(year(next_on), 12, 31)
      else next_on
    end as ends_on,
    -- in weeks or months after the one in which the period ends
    case
      when contains(publishes_on, ' of the same ') then 0
      when contains(publishes_on, ' of the next ') then 1
      when contains(publishes_on, ' before, ') then -1
      else try_cast(regexp_extract(publishes_on, '(\d+) (weeks|months) later', 1) as integer)
    end as shift
  from report
  left join next_month using (feed)
),
publication as (
  select
    feed,
    read_to,
    next_on,
    case split_part(publishes_on, ' ', 1)
      when 'every' then ends_on
      when 'day' then (
        date_trunc('month', ends_on) + to_months(shift) + to_days(try_cast(split_part(publishes_on, ' ', 2) as integer) - 1)
      )::date
      else date_trunc('week', ends_on)::date + 7 * shift + list_position(
        ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'], split_part(publishes_on, ' ', 1)
      )::integer - 1
    end as day,
    regexp_extract(publishes_on, '\d\d:\d\d')::time as clock_time,
    -- on a weekend, the grace begins like on the Friday before
    least(isodow(day), 5)::integer as weekday,
    day - isodow(day)::integer + weekday + grace_days + 2 * ((weekday - 1 + grace_days) // 5)::integer as late_day,
    -- New York is four hours behind UTC from 2:00 on the second Sunday of March to 2:00 on the first Sunday of November
    make_date(year(day), 3, 14) - isodow(make_date(year(day), 3, 14))::integer % 7 + time '02:00:00' as daylight_from,
    make_date(year(day), 11, 7) - isodow(make_date(year(day), 11, 7))::integer % 7 + time '02:00:00' as daylight_to
  from next_period
),
expected as (
  select
    feed,
    read_to,
    next_on,
    day + clock_time + to_hours(
      if(day + clock_time >= daylight_from and day + clock_time < daylight_to, 4, 5)
    ) as expected_at,
    late_day + clock_time + to_hours(
      if(late_day + clock_time >= daylight_from and late_day + clock_time < daylight_to, 4, 5)
    ) as late_at
  from publication
),
metric as (
  select
    metric_name,
    feed,
    ended_on::date as ended_on,
    last_observed_on::date as newest_on,
    no_values_reason,
    coalesce(last_observed_on::date <= ended_on::date, ended_on is not null) as has_ended
  from commodity.metric
),

-- stores: the longer one has not changed, the later it is read again
change as (
  select store_id, max(seen_at) as changed_at from storefront.variant_change group by store_id
),
store_read as (
  select
    store_id,
    arg_max(feed, read_at) as feed,
    min(read_at) as first_read_at,
    max(read_at) as attempted_at,
    max(read_at) filter (where fetch_status <> 'failed') as newest_at,
    -- a store that has rejected products was read completely
    max(read_at) filter (where outcome in ('complete', 'rejected')) as last_complete_read_at
  from ingest.live_store_read
  group by store_id
),
newest_run as (
  select max(started_at) as began_at, arg_max(run_id, started_at) as run_id
  from ingest.live_run
  where pipeline = 'storefronts' and origin = 'live'
),
store as (
  select
    feed,
    newest_at,
    last_complete_read_at,
    greatest(
      interval 1 day,
      least(interval 7 day, last_complete_read_at - coalesce(changed_at::timestamp, first_read_at))
    ) as period,
    -- A run requests every store of its list that is due, and a store that fails is due after at most seven days.
    coalesce(
      began_at > attempted_at + if(attempted_at = last_complete_read_at, period, interval 7 day)
        and feed not in (select feed from ingest.left_out where run_id = newest_run.run_id),
      false
    ) as has_ended,
    began_at
  from store_read
  left join change using (store_id)
  cross join newest_run
),

source as (
  select
    'commodities' as pipeline,
    'metric' as kind,
    metric_name as subject,
    feed,
    newest_on,
    last_complete_read_at,
    if(has_ended, null, expected_at) as expected_at,
    if(has_ended, null, late_at) as late_at,
    case
      when read_to is null then 'not_read'
      when has_ended then if(newest_on = ended_on, 'ended', 'late')
    end as settled,
    case
      when read_to is null then coalesce(no_values_reason, 'It has no value.')
      when newest_on = ended_on then 'The series ended on ' || ended_on || '.'
      when has_ended then 'The series ended on ' || ended_on || ', but its values until then are missing'
        || coalesce(' from ' || (newest_on + 1) || ' on.', '.')
      else 'The value of ' || next_on
    end as text,
    case
      when read_to is null or has_ended then null
      when newest_on is null then no_values_reason
      when newest_on < read_to then 'The report came without a number for it since ' || newest_on || '.'
    end as remark
  from metric
  join expected using (feed)
  left join (select * from feed_read where pipeline = 'commodities') as metric_read using (feed)
  union all
  select
    pipeline,
    if(pipeline = 'branded-foods', 'release_form', 'feed'),
    feed,
    feed,
    newest_on,
    last_complete_read_at,
    last_complete_read_at + interval 7 day,
    last_complete_read_at + interval 14 day,
    if(last_complete_read_at is null, 'not_read', null),
    if(last_complete_read_at is null, 'It was never read completely.', 'The next read'),
    null
  from (select pipeline, feed from feed union select pipeline, feed from missing) as known
  left join feed using (pipeline, feed)
  left join feed_read using (pipeline, feed)
  -- of commodities, only the sections of final values: the others are judged by the metrics
  where pipeline <> 'storefronts' and feed not in (select feed from report)
  union all
  select
    'storefronts',
    'store',
    replace(feed, 'store/', ''),
    feed,
    newest_at::date,
    last_complete_read_at,
    if(has_ended, null, last_complete_read_at + period),
    if(has_ended, null, last_complete_read_at + 2 * period),
    case when has_ended then 'ended' when last_complete_read_at is null then 'not_read' end,
    case
      when has_ended then strftime(began_at, 'The run of %Y-%m-%d %H:%M UTC did not request it, although it was due: it is')
        || ' no longer on the list of stores, or LARDER_STORE_MAX_INTERVAL is longer than seven days.'
      when last_complete_read_at is null then 'It was never read completely.'
      else 'The next read'
    end,
    null
  from store
),
assessed as (
  select
    source.*,
    left_out,
    reason,
    kind <> 'metric' and moment < last_complete_read_at - (late_at - last_complete_read_at) as is_ahead,
    case
      when is_sample then 'sample'
      when settled is not null then settled
      when moment >= late_at or is_ahead then 'late'
      when left_out in ('untrusted', 'unreachable') then 'not_read'
      else 'fresh'
    end as state
  from source
  cross join clock
  join ingest.data_set using (pipeline)
  left join missing using (pipeline, feed)
)
select
  pipeline,
  kind,
  subject,
  feed,
  newest_on,
  last_complete_read_at,
  if(state = 'sample', null, expected_at) as expected_at,
  if(state = 'sample', null, late_at) as late_at,
  left_out,
  state,
  case
    when state = 'sample' then 'Bundled samples get no newer values.'
    when settled is not null then text
    when is_ahead then 'The clock of its last read was ahead.'
    else text || strftime(expected_at, ' is expected by %Y-%m-%d %H:%M UTC, and late from ') || strftime(late_at, '%Y-%m-%d %H:%M UTC on.')
  end || if(state = 'sample', '', coalesce(' ' || remark, '')) || case
    when state = 'sample' or left_out is null then ''
    when left_out = 'partial' then ' It was read in part: ' || reason
    when left_out = 'untrusted' then ' The last response was not trusted: ' || reason
    else ' The last attempt got no response: ' || reason
  end as why
from assessed
union all
select pipeline, 'data_set', pipeline, null, null, null, null, null, null, 'not_loaded', 'Its pipeline has not published yet.'
from known_pipeline
where pipeline not in (select pipeline from ingest.data_set)
