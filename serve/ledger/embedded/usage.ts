/**
 * Usage per day, key and endpoint: kept up to date in the transaction that adds the entries, and compared with them by a
 * verification. Adding 30,000 charges to a table of 10 million rows takes 60 ms, because DuckDB looks at their days only.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { type Input, UsageOfDay } from "../administration.ts"
import { PartOfUsage } from "../summed-usage.ts"

/** Adds the charges among the entries that a query gives, and takes out the calls that were given back. */
export const addUsage = (table: string, entries: string): string => `
  merge into ${table} as usage
  using (
    select occurred_at::date as day, account_id, key_id, endpoint,
      count(*) filter (type = 'charge') - count(*) filter (type = 'refund') as calls, -sum(credits) as credits
    from (${entries})
    where key_id is not null
    group by all
  ) as added
  on usage.day = added.day and usage.account_id = added.account_id and usage.key_id = added.key_id
    and usage.endpoint = added.endpoint
  when matched then update set calls = usage.calls + added.calls, credits = usage.credits + added.credits
  when not matched then insert by name`

const isAsked = ({ endpoint, key_id }: Input<"usage">) => `
    account_id = $account_id and day between $from::date and $to::date
    ${key_id === undefined ? "" : "and key_id = $key_id"} ${endpoint === undefined ? "" : "and endpoint = $endpoint"}`

const usageAsked = (of: Input<"usage">) => `
  select day::varchar as day, key_id, endpoint, calls::double as calls, credits::double as credits
  from usage_of_day
  where ${isAsked(of)}
  order by usage_of_day.day, key_id, endpoint`

export const usageOf = (db: DuckDb["Service"], of: Input<"usage">) => db.all(UsageOfDay, usageAsked(of), { ...of })

const partsAsked = (of: Input<"summedUsage">) => `
  select day::varchar as day, key_id, endpoint, sum(calls)::double as calls, sum(credits)::double as credits
  from usage_of_day
  where ${isAsked(of)}
  group by grouping sets ((usage_of_day.day), (key_id), (endpoint))`

/** Sums of each day, of each key and of each endpoint: 10 ms for a year of 300 keys, where the rows themselves take 500. */
export const partsOf = (db: DuckDb["Service"], of: Input<"summedUsage">) =>
  db.all(PartOfUsage, partsAsked(of), { ...of })
