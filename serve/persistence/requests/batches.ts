/** Writes many requests together, as strings that the databases split, and prunes old ones. */
import { Effect, Schema } from "effect"
import type { ConsoleDatabase } from "../console-database.ts"
import { cellSeparator, type EncodedRows, rowSeparator, type WriteBatch } from "../encoded-rows.ts"
import type { Counted, Gathered } from "./gather-calls.ts"

const requests: Omit<EncodedRows, "text"> = {
  table: "console.request",
  columns: {
    id: "text",
    account_id: "text",
    key_id: "text",
    endpoint: "text",
    status: "integer",
    credits: "integer",
    duration_ms: "double precision",
    occurred_at: "text",
    caller_request_id: "text",
    traceparent: "text"
  }
}

const usageOfStatus = {
  table: "console.usage_of_status",
  columns: { account_id: "text", day: "text", key_id: "text", endpoint: "text", status: "integer", calls: "integer" },
  onConflict: `on conflict (account_id, day, key_id, endpoint, status)
    do update set calls = kept.calls + excluded.calls`
} as const

const statusOfEndpoint = {
  table: "console.status_of_endpoint",
  columns: { account_id: "text", day: "text", endpoint: "text", status: "integer", calls: "integer" },
  onConflict: "on conflict (account_id, day, endpoint, status) do update set calls = kept.calls + excluded.calls"
} as const

/** Sorted: two servers that update the same counts lock the rows in the same order, and cannot deadlock. */
const sumCounts = (
  counts: ReadonlyArray<Counted>,
  { columns, ...table }: typeof usageOfStatus | typeof statusOfEndpoint
): EncodedRows => {
  const { calls: _, ...named } = columns
  const names = Object.keys(named) as ReadonlyArray<keyof Counted> // `Object.keys` loses the literal types
  const sums = new Map<string, number>()
  for (const count of counts) {
    const name = names.map((column) => count[column]).join(cellSeparator)
    sums.set(name, (sums.get(name) ?? 0) + count.calls)
  }
  const rows = [...sums].map(([name, calls]) => `${name}${cellSeparator}${calls}`)
  return { ...table, columns, text: rows.sort().join(rowSeparator) }
}

function* splitRows(text: string, maxRows: number) {
  for (let start = 0; start < text.length; ) {
    let end = start
    for (let rows = 0; rows < maxRows && end < text.length; rows++) {
      const next = text.indexOf(rowSeparator, end)
      end = next === -1 ? text.length : next + 1
    }
    yield text.slice(start, end).trimEnd()
    start = end
  }
}

/** One count costs as much as this many rows: it is in two tables, which are read from disk after a start. */
const rowsPerCount = 10

function* splitIntoBatches({ counts, lines }: Gathered, maxRows: number): Generator<WriteBatch> {
  for (const text of splitRows(lines, maxRows)) yield [{ ...requests, text }]
  const maxCounts = maxRows / rowsPerCount
  for (let start = 0; start < counts.length; start += maxCounts) {
    const batch = counts.slice(start, start + maxCounts)
    yield [sumCounts(batch, usageOfStatus), sumCounts(batch, statusOfEndpoint)]
  }
}

export const writeRequests = Effect.fn("RequestLog.write")((database: ConsoleDatabase["Service"], gathered: Gathered) =>
  database.append((maxRows) => splitIntoBatches(gathered, maxRows))
)

const CallTime = Schema.Struct({ occurred_at: Schema.String })
const selectOldestKept = `
  select occurred_at
  from console.request
  where account_id = $1
  order by occurred_at desc
  limit 1 offset cast($2 as integer)`
const maxRowsPerDelete = 250
const selectEndOfBatch = `
  select max(occurred_at) as occurred_at
  from (
    select occurred_at
    from console.request
    where account_id = $1 and occurred_at > $2 and occurred_at < $3
    order by occurred_at
    limit ${maxRowsPerDelete}
  ) as oldest
  having count(*) > 0`
const deleteBatch = "delete from console.request where account_id = $1 and occurred_at > $2 and occurred_at <= $3"

/**
 * Keeps the latest `kept` calls of an account, and others with the time of the oldest of them. Each batch begins where the last one ended. Otherwise PostgreSQL would scan all removed rows again each time.
 */
export const pruneRequests = Effect.fn("RequestLog.prune")(function* (
  { background: { all, run } }: ConsoleDatabase["Service"],
  accountId: string,
  kept: number
) {
  const [oldest] = yield* all(CallTime, selectOldestKept, [accountId, kept - 1])
  if (oldest === undefined) return
  for (let start = ""; ; ) {
    const [end] = yield* all(CallTime, selectEndOfBatch, [accountId, start, oldest.occurred_at])
    if (end === undefined) return
    yield* run(deleteBatch, [accountId, start, end.occurred_at])
    start = end.occurred_at
  }
})
