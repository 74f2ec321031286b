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

-- values: by the schedule of their report
final as (
  select metric_name, max(observed_on)::date as final_on
  from commodity.observation_version
  where revision_status = 'final'
  group by metric_name
),
published as (
  select
    'metric' as kind,
    metric_name,
    feed,
    publishes_on,
    last_observed_on::date as newest_on,
    frequency,
    printed,
    last_observed_on::date as last_on,
    ended_on::date as ended_on,
    no_values_reason
  from commodity.metric
  union all
  select
    'final_values',
    metric_name,
    final_feed,
    final_publishes_on,
    final_on,
    frequency,
    printed,
    last_observed_on::date,
    ended_on::date,
    'No final value was read from ' || final_feed || '.'
  from commodity.metric
  left join final using (metric_name)
  where final_feed is not null
),
value as (
  select
    *,
    max(newest_on) over (partition by feed) as feed_newest_on,
    -- a number that is printed only sometimes is as new as the others of its report
    if(printed = 'sometimes', feed_newest_on, newest_on) as read_to,
    coalesce(last_on <= ended_on, ended_on is not null) as has_ended
  from published
),
next_month as (
  select kind, metric_name, min((read_to + to_months(step))::date) as observed_on
  from value, (select unnest(range(1, 13))::integer as step) as later
  where frequency = 'monthly'
    and (not contains(publishes_on, ', for ') or contains(publishes_on, monthname(read_to + to_months(step))))
  group by kind, metric_name
),
next_period as (
  select
    kind,
    metric_name,
    -- null if it is not of the form that the catalog accepts: everything that is computed from it is null, too
    if(regexp_matches(publishes_on, pattern), publishes_on, null) as schedule,
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
      when contains(schedule, ' of the same ') then 0
      when contains(schedule, ' of the next ') then 1
      when contains(schedule, ' before, ') then -1
      else try_cast(regexp_extract(schedule, '(\d+) (weeks|months) later', 1) as integer)
    end as shift
  from value
  left join schedule_form using (frequency)
  left join next_month using (kind, metric_name)
),
publication as (
  select
    kind,
    metric_name,
    next_on,
    case split_part(schedule, ' ', 1)
      when 'every' then ends_on
      when 'day' then (
        date_trunc('month', ends_on) + to_months(shift) + to_days(try_cast(split_part(schedule, ' ', 2) as integer) - 1)
      )::date
      else date_trunc('week', ends_on)::date + 7 * shift + list_position(
        ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'], split_part(schedule, ' ', 1)
      )::integer - 1
    end as day,
    regexp_extract(schedule, '\d\d:\d\d')::time as clock_time,
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
    kind,
    metric_name,
    next_on,
    day + clock_time + to_hours(
      if(day + clock_time >= daylight_from and day + clock_time < daylight_to, 4, 5)
    ) as expected_at,
    late_day + clock_time + to_hours(
      if(late_day + clock_time >= daylight_from and late_day + clock_time < daylight_to, 4, 5)
    ) as late_at
  from publication
),

-- stores: the longer one has not changed, the later it is read again
change as (
  select store_id, max(seen_at) as changed_at from storefront.variant_change group by store_id
),
store_read as (
  select
    *,
    -- a store that has rejected products was read completely
    outcome in ('complete', 'rejected') as is_complete
  from ingest.live_store_read
),
store_reads as (
  select
    store_id,
    arg_max(feed, read_at) as feed,
    min(read_at) as first_read_at,
    max(read_at) as attempted_at,
    max(read_at) filter (where fetch_status <> 'failed') as newest_at,
    max(read_at) filter (where is_complete) as last_complete_read_at,
    arg_max(due_from, read_at) filter (where is_complete) as due_from,
    arg_max(due_by, read_at) filter (where is_complete) as due_by,
    arg_max(due_by, read_at) as attempt_due_by
  from store_read
  group by store_id
),
-- No run records its list. Stores that a run requested together were on one list: the newest run of a store's list is the
-- newest one that requested any of them. Runs over lists without these stores say nothing about it.
request as (
  select store_id, run_id, {'started_at': started_at, 'run_id': run_id} as run
  from store_read
  join ingest.live_run using (run_id)
  where origin = 'live'
),
newest_request as (
  select store_id, max(run) as run from request group by store_id
),
newest_of_run as (
  select request.run_id, max(newest_request.run) as run
  from request
  join newest_request using (store_id)
  group by request.run_id
),
newest_of_list as (
  select store_id, max(newest_of_run.run) as list_run
  from request
  join newest_of_run using (run_id)
  group by store_id
),
store_period as (
  select
    *,
    greatest(
      interval 1 day,
      due_from - last_complete_read_at,
      least(
        coalesce(due_by - last_complete_read_at, interval 7 day),
        last_complete_read_at - coalesce(changed_at::timestamp, first_read_at)
      )
    ) as period,
    last_complete_read_at + 2 * period as late_at
  from store_reads
  left join change using (store_id)
),
store as (
  select
    *,
    -- a run requests every store of its list that is due, and one that it had no time for is left out
    coalesce(
      list_run.started_at > greatest(
        late_at,
        if(attempted_at = last_complete_read_at, null, coalesce(attempt_due_by, attempted_at + interval 7 day))
      )
        and feed not in (select feed from ingest.left_out where run_id = list_run.run_id),
      false
    ) as has_ended
  from store_period
  left join newest_of_list using (store_id)
),

value_status as (
  select
    *,
    case
      when has_ended and feed_newest_on is not null
        -- a series ends before its last values become final
        then if(newest_on = ended_on or kind = 'final_values', 'ended', 'incomplete')
      when read_to is null then 'empty'
      when expected_at is null or late_at is null then 'without schedule'
      else 'scheduled'
    end as status
  from value
  join expected using (kind, metric_name)
),
source as (
  select
    'commodities' as pipeline,
    kind,
    metric_name as subject,
    feed,
    newest_on,
    last_complete_read_at,
    if(status = 'scheduled', expected_at, null) as expected_at,
    if(status = 'scheduled', late_at, null) as late_at,
    case status
      when 'ended' then 'ended'
      when 'incomplete' then 'late'
      when 'empty' then if(feed_newest_on is null, 'not_read', 'late')
      when 'without schedule' then 'late'
    end as settled,
    case status
      when 'ended' then 'The series ended on ' || ended_on || '.'
      when 'incomplete' then 'The series ended on ' || ended_on || ', but its values until then are missing'
        || coalesce(' from ' || (newest_on + 1) || ' on.', '.')
      when 'empty' then coalesce(no_values_reason, 'It has no value.')
      when 'without schedule' then 'When its next value is expected is unknown: ' || publishes_on || ' is no schedule of '
        || frequency || ' values. Correct `publishes_on` in the catalog, and run commodities again.'
      else if(kind = 'final_values', 'The final value of ', 'The value of ') || next_on
    end as text,
    case
      when status = 'scheduled' and newest_on is null then no_values_reason
      when not has_ended and newest_on < feed_newest_on
        then 'The report came without a number for it after ' || newest_on || '.'
    end as remark
  from value_status
  left join (select * from feed_read where pipeline = 'commodities') as value_read using (feed)
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
  where pipeline <> 'storefronts' and feed not in (select feed from value)
  union all
  select
    'storefronts',
    'store',
    replace(feed, 'store/', ''),
    feed,
    newest_at::date,
    last_complete_read_at,
    if(has_ended, null, last_complete_read_at + period),
    if(has_ended, null, late_at),
    case when has_ended then 'ended' when last_complete_read_at is null then 'not_read' end,
    case
      when has_ended then 'It is no longer on the list of stores: the run of '
        || strftime(list_run.started_at, '%Y-%m-%d %H:%M UTC') || ' requested others of that list, but not this one.'
      when last_complete_read_at is null then 'It was never read completely.'
      else 'The next read'
    end,
    null
  from store
),
inactive as (
  select map_from_entries(list(row(subject, why))) as whys from commodity.inactive
),
assessed as (
  select
    source.*,
    -- a section of final values may be off alone
    coalesce(map_extract(whys, subject)[1], map_extract(whys, feed)[1]) as inactive_why,
    -- no run will read what is missing
    if(inactive_why is null and not (kind = 'store' and settled is not distinct from 'ended'), missing.left_out, null)
      as left_out,
    reason,
    kind not in ('metric', 'final_values') and moment < last_complete_read_at - (late_at - last_complete_read_at) as is_ahead,
    case
      when is_sample then 'sample'
      when inactive_why is not null then 'ended'
      when settled is not null then settled
      when moment >= late_at or is_ahead then 'late'
      when missing.left_out in ('untrusted', 'unreachable') then 'not_read'
      else 'fresh'
    end as state
  from source
  cross join clock
  cross join inactive
  join ingest.data_set using (pipeline)
  left join missing using (pipeline, feed)
)
select
  pipeline,
  kind,
  subject,
  feed,
  newest_on,
  if(inactive_why is null, last_complete_read_at, null) as last_complete_read_at,
  if(state = 'sample' or inactive_why is not null, null, expected_at) as expected_at,
  if(state = 'sample' or inactive_why is not null, null, late_at) as late_at,
  left_out,
  state,
  case
    when state = 'sample' then 'Bundled samples get no newer values.'
    when inactive_why is not null then inactive_why
    when settled is not null then text
    when is_ahead then 'The clock of its last read was ahead.'
    else text || strftime(expected_at, ' is expected by %Y-%m-%d %H:%M UTC, and late from ') || strftime(late_at, '%Y-%m-%d %H:%M UTC on.')
  end || if(state = 'sample' or inactive_why is not null, '', coalesce(' ' || remark, '')) || case
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
