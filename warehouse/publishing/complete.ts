/**
 * Completes staged rows from the live generation: a row with only part of the known values gets the rest from the live
 * row of its key, and a row that adds nothing is removed. It processes ranges of the key, so wide tables with millions
 * of rows need little memory.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import type { Merge } from "../tables/tables.ts"

type CompleteMerge = Extract<Merge, { readonly by: "complete" }>

/** Rows per range: 250,000 labels of about 1.5 kB on each side of the join. */
const maxRangeRows = 250_000

const Range = Schema.Struct({ first: Schema.BigInt, last: Schema.BigInt })

const selectRanges = (staged: string, key: string, rangeRows: number) => `
  select min(${key})::bigint as first, max(${key})::bigint as last
  from (select ${key}, (row_number() over (order by ${key}) - 1) // ${rangeRows} as range from ${staged})
  group by range
  order by first`

/** The merged values of a row, as the `set` of an update. */
export const assignments = (columns: ReadonlyArray<string>, expressionFor: CompleteMerge["expressionFor"]) =>
  columns
    .flatMap((column) => {
      const expression = expressionFor(column)
      return expression === undefined ? [] : [`${identifier(column)} = ${expression}`]
    })
    .join(", ")

/** Removes the staged rows that do not differ from the live ones, and completes the others. */
export const completeFromLive = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  staged: string,
  columns: ReadonlyArray<string>,
  { expressionFor, ignoredColumns, key: keyName }: CompleteMerge,
  rangeRows = maxRangeRows
) {
  const key = identifier(keyName)
  const isSame = columns
    .filter((column) => column !== keyName && !ignoredColumns.includes(column))
    .map(
      (column) => `${expressionFor(column) ?? `s.${identifier(column)}`} is not distinct from l.${identifier(column)}`
    )
    .join(" and ")
  const set = assignments(columns, expressionFor)
  for (const { first, last } of yield* db.all(Range, selectRanges(staged, key, rangeRows))) {
    const isInRange = `s.${key} = l.${key} and s.${key} between ${first} and ${last} and l.${key} between ${first} and ${last}`
    yield* db.run(`delete from ${staged} s using live.${staged} l where ${isInRange} and ${isSame}`)
    yield* db.run(`update ${staged} s set ${set} from live.${staged} l where ${isInRange}`)
  }
})
