/**
 * Usage per day, key and endpoint: kept up to date in the transaction that adds the entries, and compared with them by a
 * verification. Adding 30,000 charges to a table of 10 million rows takes 60 ms, because DuckDB looks at their days only.
 *
 * A page of a year would read all of these rows. So there are sums of them, as in PostgreSQL: of all keys together, and of
 * whole months. The rows of one key are found by a number, because texts of 10 million rows take three times as long.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { type Input, UsageOfDay } from "../administration.ts"
import { type Days, inMonths } from "../moments.ts"
import { PartOfUsage } from "../summed-usage.ts"

/** Has to be the same in every version of DuckDB, which its own `hash` is not. */
const keyHash = (keyId: string) => `(md5_number_lower(${keyId}) % 4294967296)::uinteger`
const monthOfDay = "(year(day) * 12 + month(day) - 1)::integer"

/** Adds the charges among the entries that a query gives, and takes out the calls that were given back. */
export const addUsage = (table: string, entries: string): string => `
  merge into ${table} as usage
  using (
    select occurred_at::date as day, account_id, key_id, endpoint,
      count(*) filter (type = 'charge') - count(*) filter (type = 'refund') as calls, -sum(credits) as credits,
      ${keyHash("key_id")} as key_hash
    from (${entries})
    where key_id is not null
    group by all
  ) as added
  on usage.day = added.day and usage.account_id = added.account_id and usage.key_id = added.key_id
    and usage.endpoint = added.endpoint
  when matched then update set calls = usage.calls + added.calls, credits = usage.credits + added.credits
  when not matched then insert by name`

interface Sums {
  readonly table: string
  /** What a row is of: columns, each with what gives it out of a day's usage. */
  readonly of: Readonly<Record<string, string>>
}
const sums: ReadonlyArray<Sums> = [
  { table: "usage_of_endpoint", of: { day: "day", account_id: "account_id", endpoint: "endpoint" } },
  {
    table: "usage_of_month",
    of: { month: monthOfDay, account_id: "account_id", key_id: "key_id", endpoint: "endpoint" }
  }
]

const summed = ({ of }: Sums, usage: string) => `
  select ${Object.entries(of).map(([column, sql]) => `${sql} as ${column}`)}, sum(calls) as calls, sum(credits) as credits
  from (${usage})
  group by ${Object.values(of)}`

/** Adds to the sums what `addUsage` adds to the days. */
export const addToSums = (entries: string): ReadonlyArray<string> => [
  `create or replace temp table usage_added as
    select occurred_at::date as day, account_id, key_id, endpoint,
      case type when 'charge' then 1 when 'refund' then -1 else 0 end as calls, -credits as credits
    from (${entries})
    where key_id is not null`,
  ...sums.map(
    (of) => `
  merge into ${of.table} as usage
  using (${summed(of, "from usage_added")}) as added using (${Object.keys(of.of)})
  when matched then update set calls = usage.calls + added.calls, credits = usage.credits + added.credits
  when not matched then insert by name`
  ),
  "drop table usage_added"
]

const isNotSummed = ({ table }: Sums) => `
  (select sum(calls) from usage_of_day) is distinct from (select sum(calls) from ${table})`

/**
 * What a ledger of an earlier version lacks, or of a time with one. Counts only grow but for calls that were given back:
 * where all of them together agree, each does, and otherwise a verification finds it. Once.
 */
export const upToDate: ReadonlyArray<string> = [
  `update usage_of_day set key_hash = ${keyHash("key_id")} where key_hash is null`,
  ...sums.flatMap((of) => [
    `delete from ${of.table} where ${isNotSummed(of)}`,
    `insert into ${of.table} by name from (${summed(of, "from usage_of_day")}) where ${isNotSummed(of)}`
  ])
]

const differences = (of: Sums) => `
  select format('the sums of usage of {} in ${of.table} differ from its days', ${Object.keys(of.of)
    .map((column) => `coalesce(${column}::varchar, 'null')`)
    .join(" || ' ' || ")}) as problem
  from (select ${Object.keys(of.of)}, sum(calls) as calls, sum(credits) as credits from ${of.table} group by all) as kept
  full join (${summed(of, "from usage_of_day")}) as usage using (${Object.keys(of.of)})
  where (kept.calls, kept.credits) is distinct from (usage.calls, usage.credits)
  order by ${Object.keys(of.of)}`

/** Queries for what a verification tells of the sums, and of the numbers that keys are found by. */
export const sumDifferences: ReadonlyArray<string> = [
  ...sums.map(differences),
  `select format('the usage of key {} on {} cannot be found by its key', key_id, day::varchar) as problem
  from usage_of_day
  where key_hash is distinct from ${keyHash("key_id")}
  order by day, key_id, endpoint`
]

const isPart = ({ endpoint, key_id }: Input<"usage">) => `
    account_id = $account_id
    ${key_id === undefined ? "" : `and key_id = $key_id and key_hash = ${keyHash("$key_id")}`}
    ${endpoint === undefined ? "" : "and endpoint = $endpoint"}`
const isAsked = (of: Input<"usage">) => `${isPart(of)} and day between $from::date and $to::date`

const usageAsked = (of: Input<"usage">) => `
  select day::varchar as day, key_id, endpoint, calls::double as calls, credits::double as credits
  from usage_of_day
  where ${isAsked(of)}
  order by usage_of_day.day, key_id, endpoint`

export const usageOf = (db: DuckDb["Service"], of: Input<"usage">) => db.all(UsageOfDay, usageAsked(of), { ...of })

const part = (day: string, keyId: string, endpoint: string) => `
  select ${day} as day, ${keyId} as key_id, ${endpoint} as endpoint, sum(calls)::double as calls, sum(credits)::double as credits`

const ofOneKey = (of: Input<"summedUsage">) => `${part("day::varchar", "key_id", "endpoint")}
  from usage_of_day
  where ${isAsked(of)}
  group by grouping sets ((usage_of_day.day), (key_id), (endpoint))`

/** Keys: months, and days that are added to them or taken out. */
const ofAllKeys = (of: Input<"summedUsage">) => {
  const { added, first, next, taken } = inMonths(of)
  const params: Record<string, string | number> = { ...of, first, next }
  const ofDays = (sign: "" | "-") => (days: Days) => {
    const number = Object.keys(params).length
    const [begin, end] = [`begin_${number}`, `end_${number}`]
    Object.assign(params, { [begin]: days.from, [end]: days.to })
    return `
    union all
    select key_id, ${sign}calls, ${sign}credits
    from usage_of_day
    where ${isPart(of)} and day between $${begin}::date and $${end}::date`
  }
  const sql = `${part("day::varchar", "null", "endpoint")}
  from usage_of_endpoint
  where ${isAsked(of)}
  group by grouping sets ((usage_of_endpoint.day), (endpoint))
  union all ${part("null", "key_id", "null")}
  from (
    select key_id, calls, credits
    from usage_of_month
    where ${isPart(of)} and month >= $first and month < $next
    ${[...added.map(ofDays("")), ...taken.map(ofDays("-"))].join("")}
  )
  group by key_id`
  return { sql, params }
}

/** Sums of each day, of each key and of each endpoint: of a year it reads sums, and sixteen days of two months at most. */
export const partsOf = (db: DuckDb["Service"], of: Input<"summedUsage">) => {
  if (of.key_id !== undefined) return db.all(PartOfUsage, ofOneKey(of), { ...of })
  const { params, sql } = ofAllKeys(of)
  return db.all(PartOfUsage, sql, params)
}
