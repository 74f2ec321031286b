/** Sums of `usage_of_status` for the pages: of all keys together, and of whole months. In SQL that both databases understand. */

export interface SumTable {
  readonly table: string
  /** What a row is of: columns, each with what gives it out of a day's counts. */
  readonly columns: Readonly<Record<string, string>>
}

export const sumTables: ReadonlyArray<SumTable> = [
  {
    table: "status_of_endpoint",
    columns: { account_id: "account_id", day: "day", endpoint: "endpoint", status: "status" }
  },
  {
    table: "status_of_month",
    columns: {
      account_id: "account_id",
      key_id: "key_id",
      month: "substr(day, 1, 4)::integer * 12 + substr(day, 6, 2)::integer - 1",
      endpoint: "endpoint",
      status: "status"
    }
  }
]

const writeSums = ({ columns, table }: SumTable, counts: string) => {
  const names = Object.keys(columns).join(", ")
  const values = Object.values(columns).join(", ")
  return `
  insert into console.${table} as kept (${names}, calls)
  select ${values}, sum(calls)
  from ${counts}
  group by ${values}
  on conflict (${names}) do update set calls = `
}

/** Adds what a table, or a query with a name, has counted. */
export const addToSums = (of: SumTable, counts: string): string => `${writeSums(of, counts)}kept.calls + excluded.calls`

/** Anew, from all that was counted. */
export const sumAnew = (of: SumTable, condition = "true"): string =>
  `${writeSums(of, `(select * from console.usage_of_status where ${condition}) as counts`)}excluded.calls`

/**
 * Where they lack something, as after a time with a version that knew no sums. Counts only grow: where all of them together
 * agree, each does.
 */
export const sumMissing: ReadonlyArray<string> = sumTables.map((of) =>
  sumAnew(
    of,
    `(select sum(calls) from console.usage_of_status) is distinct from (select sum(calls) from console.${of.table})`
  )
)
