/** Sums of `usage_of_status` for the pages: of all keys together, and of whole months. In SQL that both databases understand. */

interface Sums {
  readonly table: string
  /** What a row is of: columns, each with what gives it out of a day's counts. */
  readonly of: Readonly<Record<string, string>>
}

export const sums: ReadonlyArray<Sums> = [
  {
    table: "status_of_endpoint",
    of: { account_id: "account_id", day: "day", endpoint: "endpoint", status: "status" }
  },
  {
    table: "status_of_month",
    of: {
      account_id: "account_id",
      month: "substr(day, 1, 4)::integer * 12 + substr(day, 6, 2)::integer - 1",
      key_id: "key_id",
      endpoint: "endpoint",
      status: "status"
    }
  }
]

const sumUp = ({ of, table }: Sums, counts: string) => {
  const columns = Object.keys(of)
  return `
  insert into console.${table} as sums (${columns}, calls)
  select ${Object.entries(of).map(([column, sql]) => `${sql} as ${column}`)}, sum(calls)
  from ${counts}
  group by ${Object.values(of)}
  order by ${columns}
  on conflict (${columns}) do update set calls = `
}

/** Adds what a query or a table counts, always in the same order: two servers that add at once do not wait for each other. */
export const addToSums = (of: Sums, counts: string): string => `${sumUp(of, counts)}sums.calls + excluded.calls`

/** Anew, from all that was counted. */
export const sumAnew = (of: Sums, condition = "true"): string =>
  `${sumUp(of, `(select * from console.usage_of_status where ${condition}) as counts`)}excluded.calls`

/**
 * Where they lack something, as after a time with a version that knew no sums. Counts only grow: where all of them together
 * agree, each does.
 */
export const sumMissing: ReadonlyArray<string> = sums.map((of) =>
  sumAnew(
    of,
    `(select sum(calls) from console.usage_of_status) is distinct from (select sum(calls) from console.${of.table})`
  )
)
