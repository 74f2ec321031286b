/** Many requests in a few statements: they travel as texts, which both databases take apart. */
import { Effect } from "effect"
import type { ConsoleDatabase } from "../console-database/console-database.ts"
import { addToSums } from "../console-database/sums.ts"
import { betweenCells, type Counted, type Gathered } from "./gathered.ts"

/** Calls that are kept of each account. Some more stay until it is pruned, and where several share one millisecond. */
export const kept = 10_000

const addRequests = `
  insert into console.request (id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at)
  select cells[1], cells[2], cells[3], cells[4], cells[5]::integer, cells[6]::integer, cells[7]::double precision, cells[8]
  from (
    select string_to_array(line, chr(31)) as cells
    from (select unnest(string_to_array($1, chr(10))) as line) as lines
  ) as calls`

const column = (position: number, type = "text") => `unnest(string_to_array($${position}, chr(31)))::${type}`
const addCalls = `
  insert into console.usage_of_status as counted (day, account_id, key_id, endpoint, status, calls)
  select ${column(1)}, ${column(2)}, ${column(3)}, ${column(4)}, ${column(5, "integer")}, ${column(6, "integer")}
  on conflict (account_id, day, key_id, endpoint, status) do update set calls = counted.calls + excluded.calls`
const callsCounted = `(
    select ${column(1)} as day, ${column(2)} as account_id, ${column(3)} as key_id, ${column(4)} as endpoint,
      ${column(5, "integer")} as status, ${column(6, "integer")} as calls
  ) as counts`
const removeOld = `
  delete from console.request
  where account_id = $1 and occurred_at < (
    select occurred_at from console.request where account_id = $1 order by occurred_at desc limit 1 offset ${kept - 1}
  )`

/** Sorted: two servers that count the same calls at once take the rows in the same order, and none waits for ever. */
const countColumns = (counts: ReadonlyArray<Counted>): ReadonlyArray<string> => {
  const rows = counts
    .map(({ account_id, calls, day, endpoint, key_id, status }) => [day, account_id, key_id, endpoint, status, calls])
    .sort((a, b) => (a.join(betweenCells) < b.join(betweenCells) ? -1 : 1))
  return [0, 1, 2, 3, 4, 5].map((place) => rows.map((row) => row[place]).join(betweenCells))
}

export const writeRequests = Effect.fn("RequestLog.write")(
  (database: ConsoleDatabase["Service"], { counts, lines }: Gathered) =>
    database.transaction(({ run }) => {
      const columns = countColumns(counts)
      return run(addRequests, [lines]).pipe(
        Effect.andThen(run(addCalls, columns)),
        Effect.andThen(
          Effect.forEach(database.sums, (of) => run(addToSums(of, callsCounted), columns), { discard: true })
        )
      )
    })
)

export const pruneRequests = (database: ConsoleDatabase["Service"], accountId: string) =>
  database.run(removeOld, [accountId])
