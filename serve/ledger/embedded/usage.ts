/**
 * Usage per day, key and endpoint, read on a thread: from the derived tables, and from the entries that they do not
 * include yet. A page for a year reads sums of days and of months, and at most sixteen days in each of two months.
 */
import type { SqlCell, Sqlite } from "../../persistence/index.ts"
import type { Input, UsageOfDay } from "../administration.ts"
import type { UsagePart } from "../summed-usage.ts"
import { type DateRange, splitPeriod } from "../utc-calendar.ts"
import { dayOfEntry, unsummedUsage } from "./progress.ts"
import { queryRecords } from "./tables.ts"

type UsageQuery = Input<"summedUsage">

/** `$1` to `$5` in each query. */
const usageParams = ({ account_id, endpoint, from, key_id, to }: UsageQuery): Array<SqlCell> => [
  account_id,
  from,
  to,
  key_id ?? null,
  endpoint ?? null
]
const byEndpoint = "($5 is null or endpoint = $5)"

const requestedUnsummed = `${unsummedUsage} and account_id = $1 and ${dayOfEntry} between $2 and $3
    and ($4 is null or key_id = $4) and ${byEndpoint}`

const dayOfAccount = (aggregate: "min" | "max") =>
  `(select ${aggregate}(day) from sums.usage_of_day where account_id = $1)`

/** A key has few rows on a day, or none, so days are looked up one by one, within the days that its account has. */
const daysOfKey = `
  select usage.day, usage.key_id, usage.endpoint, usage.calls, usage.credits
  from (
    with recursive
      known(first, last) as (select max($2, ${dayOfAccount("min")}), min($3, ${dayOfAccount("max")})),
      requested(day) as (
        select first from known where first <= last
        union all
        select date(day, '+1 day') from requested, known where day < last
      )
    select day from requested
  ) as requested
  cross join sums.usage_of_day as usage
    on usage.account_id = $1 and usage.day = requested.day and usage.key_id = $4
  where ${byEndpoint}`
const daysOfAll = `
  select day, key_id, endpoint, calls, credits
  from sums.usage_of_day
  where account_id = $1 and day between $2 and $3 and $4 is null and ${byEndpoint}`

const selectDays = ({ key_id }: UsageQuery) => `
  select * from (${key_id === undefined ? daysOfAll : daysOfKey})
  union all
  select day, key_id, endpoint, calls, credits from (${requestedUnsummed})`

export const readUsage = (sqlite: Sqlite, query: UsageQuery): ReadonlyArray<UsageOfDay> =>
  queryRecords(
    sqlite,
    `select day, key_id, endpoint, sum(calls) as calls, sum(credits) as credits
    from (${selectDays(query)})
    group by day, key_id, endpoint
    order by day, key_id, endpoint`,
    usageParams(query)
  )

const selectPart = (day: string, keyId: string, endpoint: string, from: string) => `
  select ${day} as day, ${keyId} as key_id, ${endpoint} as endpoint, sum(calls) as calls, sum(credits) as credits
  from ${from}
  group by ${[day, keyId, endpoint].filter((column) => column !== "null").join(", ")}`

/** SQLite has no grouping sets. */
const queryOneKey = (query: UsageQuery) => ({
  sql: `
    with usage as materialized (${selectDays(query)})
    ${selectPart("day", "null", "null", "usage")}
    union all ${selectPart("null", "key_id", "null", "usage")}
    union all ${selectPart("null", "null", "endpoint", "usage")}`,
  params: usageParams(query)
})

const queryAllKeys = (query: UsageQuery) => {
  const { added, first, next, subtracted } = splitPeriod(query)
  const params = usageParams(query)
  const [firstMonth, nextMonth] = [params.push(first), params.push(next)]
  const unionDays = (sign: "" | "-") => (days: DateRange) => {
    const [begin, end] = [params.push(days.from), params.push(days.to)]
    return `
      union all
      select key_id, ${sign}calls, ${sign}credits
      from sums.usage_of_day
      where account_id = $1 and day between $${begin} and $${end} and ${byEndpoint}`
  }
  const keys = `
    select key_id, calls, credits
    from (
      with recursive requested(month) as (select $${firstMonth} union all select month + 1 from requested where month + 1 < $${nextMonth})
      select month from requested where $${firstMonth} < $${nextMonth}
    ) as requested
    cross join sums.usage_of_month as usage on usage.month = requested.month and usage.account_id = $1
    where ${byEndpoint}
    ${[...added.map(unionDays("")), ...subtracted.map(unionDays("-"))].join("")}
    union all
    select key_id, calls, credits from (${requestedUnsummed})`
  return {
    sql: `
    with usage as materialized (
      select day, endpoint, calls, credits
      from sums.usage_of_endpoint
      where account_id = $1 and day between $2 and $3 and ${byEndpoint}
      union all
      select day, endpoint, calls, credits from (${requestedUnsummed})
    )
    ${selectPart("day", "null", "null", "usage")}
    union all ${selectPart("null", "null", "endpoint", "usage")}
    union all ${selectPart("null", "key_id", "null", `(${keys})`)}`,
    params
  }
}

export const readUsageParts = (sqlite: Sqlite, query: UsageQuery): ReadonlyArray<UsagePart> => {
  const { params, sql } = query.key_id === undefined ? queryAllKeys(query) : queryOneKey(query)
  return queryRecords(sqlite, sql, params)
}
