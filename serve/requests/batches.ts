/** Many requests in few statements: each column travels as one text, which both databases take apart. */
import { Effect } from "effect"
import type { ConsoleDatabase } from "../console-database/console-database.ts"
import type { Counted, Gathered } from "./gathered.ts"
import type { NotedRequest } from "./request-log.ts"

/** Calls that are kept of each account. Some more stay until it is pruned, and where several share one millisecond. */
export const kept = 10_000

/** No id, path or number has this character. */
const separator = "\u001f"

const column = (position: number, type = "text") => `unnest(string_to_array($${position}, chr(31)))::${type}`

const addRequests = `
  insert into console.request (id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at)
  select ${column(1)}, ${column(2)}, ${column(3)}, ${column(4)}, ${column(5, "integer")}, ${column(6, "integer")},
    ${column(7, "double precision")}, ${column(8)}`
const addCalls = `
  insert into console.usage_of_status as counted (day, account_id, key_id, endpoint, status, calls)
  select ${column(1)}, ${column(2)}, ${column(3)}, ${column(4)}, ${column(5, "integer")}, ${column(6, "integer")}
  on conflict (account_id, day, key_id, endpoint, status) do update set calls = counted.calls + excluded.calls`
const removeOld = `
  delete from console.request
  where account_id = $1 and occurred_at < (
    select occurred_at from console.request where account_id = $1 order by occurred_at desc limit 1 offset ${kept - 1}
  )`

/** One text per column. Written out for speed: this runs between calls. */
const requestColumns = (batch: ReadonlyArray<NotedRequest>): ReadonlyArray<string> => {
  const joined = (cell: (request: NotedRequest) => string | number) => batch.map(cell).join(separator)
  return [
    joined(({ id }) => id),
    joined(({ account_id }) => account_id),
    joined(({ key_id }) => key_id),
    joined(({ endpoint }) => endpoint),
    joined(({ status }) => status),
    joined(({ credits }) => credits),
    joined(({ duration_ms }) => duration_ms),
    joined(({ occurred_at }) => occurred_at)
  ]
}

/** Sorted: two servers that count the same calls at once take the rows in the same order, and none waits for ever. */
const countColumns = (counts: ReadonlyArray<Counted>): ReadonlyArray<string> => {
  const rows = counts
    .map(({ account_id, calls, day, endpoint, key_id, status }) => [day, account_id, key_id, endpoint, status, calls])
    .sort((a, b) => (a.join(separator) < b.join(separator) ? -1 : 1))
  return [0, 1, 2, 3, 4, 5].map((place) => rows.map((row) => row[place]).join(separator))
}

export const writeRequests = Effect.fn("RequestLog.write")(
  (database: ConsoleDatabase["Service"], { counts, latest }: Gathered) =>
    database.transaction(({ run }) =>
      Effect.andThen(run(addRequests, requestColumns(latest)), run(addCalls, countColumns(counts)))
    )
)

export const pruneRequests = (database: ConsoleDatabase["Service"], accountId: string) =>
  database.run(removeOld, [accountId])
