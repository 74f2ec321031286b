version as (
  select
    *,
    revision_status is not distinct from 'final' as is_final,
    -- The value of a day is the one with the highest precedence: a final one before a provisional one, then the newest.
    row_number() over (
      partition by metric_name, observed_on
      order by revision_status is not distinct from 'final', published_at, run_id, source_row
    ) as precedence,
    -- Rows without a publication time are stamped with the last microsecond of a day; no report publishes such a time. They
    -- were published no later than they were fetched. The time of the fetch is in UTC, and local times are at most UTC−4.
    case
      when microsecond(published_at) % 1_000_000 = 999_999 then greatest(published_at, fetched_at - interval 4 hours)
      else published_at
    end as known_at
  from commodity.observation_version
)
