create or replace view ingest.live_left_out as
with run as (
  select run_id, pipeline, window_from is not null as has_window, recorded_in,
    coalesce(rebuilt_in, recorded_in) as read_in
  from ingest.live_run
),
-- a known payload from another address was not read again
first_reading as (
  select pipeline, feed, has_window, read_in, run_id
  from ingest.raw_file
  join run using (run_id, pipeline)
  qualify row_number() over (
    partition by pipeline, feed, raw_sha256, mapping_sha256, window_from, window_to order by read_in, run_id
  ) = 1
),
-- a run of some days neither reads the feed as a whole nor tells whether it can be reached today
last_reading as (
  select pipeline, feed, max((read_in, run_id)) as last_read from first_reading where not has_window group by all
),
last_attempt as (
  select pipeline, max((recorded_in, run_id)) as last_run from run where not has_window group by all
),
from_feeds as (
  select left_out.*
  from ingest.left_out
  join run using (run_id, pipeline)
  left join last_reading using (pipeline, feed)
  left join last_attempt using (pipeline)
  where pipeline <> 'storefronts'
    and if(
      kind = 'partial',
      last_read is null or (read_in, run_id) >= last_read,
      (recorded_in, run_id) = last_run
    )
  qualify row_number() over (
    partition by pipeline, feed, kind, has_window order by read_in desc, run_id desc
  ) = 1
),
-- Each store is read alone, and a read that was not taken leaves the rows of an earlier one live. These are window
-- functions because DuckDB 1.5.5 hangs on a correlated comparison of reads in the catalogue, which uses read_duckdb.
store_reading as (
  select run_id, feed,
    row_number() over (partition by feed order by read_at desc, run_id desc) = 1 as is_last,
    is_taken and row_number() over (partition by feed, is_taken order by read_at desc, run_id desc) = 1 as is_last_taken
  from ingest.live_store_read
),
from_stores as (
  select left_out.*
  from ingest.left_out
  join store_reading using (run_id, feed)
  where pipeline = 'storefronts' and (is_last or is_last_taken)
)
from from_feeds union all from from_stores
