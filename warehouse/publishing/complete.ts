/**
 * Completes staged rows from the live generation: a row that states only part of what is known about its key takes the
 * rest from the live row, and a row that adds nothing is removed. It processes ranges of the key, so wide tables with
 * millions of rows need little memory.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import type { Merge } from "../tables/tables.ts"

type Completing = Extract<Merge, { readonly by: "completing" }>

/** Rows per range: 250,000 labels of about 1.5 kB on each side of the join. */
const maxRows = 250_000

const Range = Schema.Struct({ first: Schema.BigInt, last: Schema.BigInt })

const ranges = (staged: string, key: string, rowsOfRange: number) => `
  select min(${key})::bigint as first, max(${key})::bigint as last
  from (select ${key}, (row_number() over (order by ${key}) - 1) // ${rowsOfRange} as range from ${staged})
  group by range
  order by first`

/** The merged values of a row, as the `set` of an update. */
export const assignments = (columns: ReadonlyArray<string>, completed: Completing["completed"]) =>
  columns
    .flatMap((column) => {
      const value = completed(column)
      return value === undefined ? [] : [`${identifier(column)} = ${value}`]
    })
    .join(", ")

/** Reduces the staged table to rows that are new or differ from the live ones, and completes these. */
export const completeFromLive = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  staged: string,
  columns: ReadonlyArray<string>,
  { completed, ignoring, key: keyName }: Completing,
  rowsOfRange = maxRows
) {
  const key = identifier(keyName)
  const asLive = columns
    .filter((column) => column !== keyName && !ignoring.includes(column))
    .map((column) => `${completed(column) ?? `s.${identifier(column)}`} is not distinct from l.${identifier(column)}`)
  const set = assignments(columns, completed)
  for (const { first, last } of yield* db.all(Range, ranges(staged, key, rowsOfRange))) {
    const both = `s.${key} = l.${key} and s.${key} between ${first} and ${last} and l.${key} between ${first} and ${last}`
    yield* db.run(`delete from ${staged} s using live.${staged} l where ${both} and ${asLive.join(" and ")}`)
    yield* db.run(`update ${staged} s set ${set} from live.${staged} l where ${both}`)
  }
})
