/**
 * The request log in the console's tables. Calls are gathered and written twice a second; a busy server gathers them for
 * up to five seconds, because most would soon be pruned: six thousand calls per second then cost about four percent of a
 * core. While the tables cannot be written, calls are dropped and counted. A crash loses the gathered calls.
 */
import { addDays } from "@larder/schemas"
import { Effect, Layer, Schedule, Schema, Semaphore } from "effect"
import { ConsoleDatabase } from "../console-database.ts"
import type { SqlCell } from "../sqlite.ts"
import { pruneRequests, writeRequests } from "./batches.ts"
import { type Gathered, gatherCalls } from "./gather-calls.ts"
import { CallsByStatus, DailyCalls, lastUseDays, RequestLog, RequestRecord, type StatusQuery } from "./request-log.ts"

const writeInterval = "500 millis"
/** A batch between these sizes is written after `maxChecks` checks, any other at the next check. */
const busy = { minBytes: 256 * 1024, maxBytes: 8 * 1024 * 1024, maxChecks: 10 }
const pruneInterval = "10 seconds"
/** The calls of ten busy accounts, or 150,000 of many quiet ones. Buffers double, so memory use may be twice this. */
const maxWaitingBytes = 32 * 1024 * 1024
/** An account is pruned again after this many calls since its last pruning. */
const callsPerPruning = 1_000

const latestRequests = `
  select id, account_id, key_id, endpoint, status, credits, duration_ms, occurred_at, caller_request_id, traceparent
  from console.request
  where account_id = $1
    and (cast($2 as text) is null or key_id = $2)
    and (cast($3 as text) is null or endpoint = $3)
    and (cast($4 as integer) is null or status = $4)
    and (cast($5 as text) is null or (occurred_at, id) < ($5, $6))
    and (cast($7 as text) is null or $7 in (id, caller_request_id, traceparent, substr(traceparent, 4, 32)))
  order by occurred_at desc, id desc
  limit cast($8 as integer)`
/** As a string, a time is greater than its day. The newest day of each key is the last entry of an index range. */
const selectLastUses = (keys: ReadonlyArray<string>) => `
  with requested (key_id) as (values ${keys.map((_, index) => `(cast($${index + 3} as text))`).join(", ")})
  select key_id, max(used) as used
  from (
    select key_id, max(occurred_at) as used from console.request where account_id = $1 group by key_id
    union all
    select key_id, (
      select max(day) from console.usage_of_status as counted
      where counted.account_id = $1 and counted.key_id = requested.key_id and counted.day >= $2
    ) as used
    from requested
  ) as uses
  where used is not null
  group by key_id`
const LastUse = Schema.Struct({ key_id: Schema.String, used: Schema.String })
const endpointCondition = "account_id = $1 and day between $2 and $3 and (cast($4 as text) is null or endpoint = $4)"
const keyCondition = "and key_id = $5"
const selectStatuses = (condition = "") => `
  select day, key_id, endpoint, status, calls
  from console.usage_of_status
  where ${endpointCondition} ${condition}
  order by day, key_id, endpoint, status`
const selectSums = (table: "status_of_endpoint" | "usage_of_status", condition = "") => `
  select status, cast(sum(calls) as double precision) as calls
  from console.${table}
  where ${endpointCondition} ${condition}
  group by status
  order by status`

const chooseStatement = (
  { account_id, endpoint, from, key_id, to }: StatusQuery,
  allKeys: string,
  oneKey: string
): readonly [statement: string, params: ReadonlyArray<SqlCell>] => {
  const params = [account_id, from, to, endpoint ?? null]
  return key_id === undefined ? [allKeys, params] : [oneKey, [...params, key_id]]
}

const make = Effect.fnUntraced(function* (kept: number) {
  const database = yield* ConsoleDatabase
  const { all } = database.background
  const writeLock = yield* Semaphore.make(1)
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const waiting = gatherCalls(kept)
  let dropped = 0
  let isDropping = false
  let checks = 0
  /** Calls per account since its last pruning. The first call makes an account due: an earlier process may have left calls. */
  const unpruned = new Map<string, number>()

  const markWritten = ({ counts }: Gathered) => {
    isDropping = false
    for (const { account_id, calls } of counts) {
      unpruned.set(account_id, (unpruned.get(account_id) ?? callsPerPruning) + calls)
    }
  }
  /** Logs once, until writing works again. */
  const drop = (count: number, reason: string) => {
    dropped += count
    if (!isDropping) log(Effect.logWarning(`requests are missing in the console's log: ${reason}`))
    isDropping = true
  }

  const write = writeLock.withPermit(
    Effect.suspend(() => {
      checks = 0
      if (waiting.calls() === 0) return Effect.void
      const batch = waiting.take()
      return writeRequests(database, batch).pipe(
        Effect.andThen(Effect.sync(() => markWritten(batch))),
        Effect.catchTag("ConsoleUnavailable", ({ message }) => Effect.sync(() => drop(batch.calls, message)))
      )
    }).pipe(Effect.uninterruptible)
  )
  const writeWhenDue = Effect.suspend(() => {
    checks++
    const isGathering = waiting.bytes() >= busy.minBytes && waiting.bytes() < busy.maxBytes && checks < busy.maxChecks
    return isGathering ? Effect.void : write
  })
  const prune = Effect.suspend(() => {
    const ids = [...unpruned].flatMap(([account, count]) => (count >= callsPerPruning ? [account] : []))
    const markPruned = (account: string) => Effect.sync(() => unpruned.set(account, 0))
    return Effect.forEach(
      ids,
      (account) => Effect.andThen(pruneRequests(database, account, kept), markPruned(account)),
      {
        discard: true
      }
    )
  }).pipe(
    Effect.catchTag("ConsoleUnavailable", ({ message }) =>
      Effect.logWarning(`old requests stay in the console's log: ${message}`)
    )
  )

  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.repeat(writeWhenDue, Schedule.spaced(writeInterval)))
  yield* Effect.forkScoped(Effect.repeat(prune, Schedule.spaced(pruneInterval)))

  return RequestLog.of({
    kept,
    record: (request) => {
      if (waiting.bytes() < maxWaitingBytes) waiting.add(request)
      else drop(1, "they arrive faster than they are written")
    },
    dropped: () => dropped,
    latest: ({ account_id, before, endpoint = null, id = null, key_id = null, limit, status = null }) =>
      Effect.andThen(
        write,
        all(RequestRecord, latestRequests, [
          ...[account_id, key_id, endpoint, status],
          ...[before?.occurred_at ?? null, before?.id ?? null, id, limit]
        ])
      ),
    lastUses: ({ account_id, keys, today }) =>
      write.pipe(
        Effect.andThen(
          keys.length === 0
            ? Effect.succeed([])
            : all(LastUse, selectLastUses(keys), [account_id, addDays(today, -lastUseDays), ...keys])
        ),
        Effect.map((uses) => new Map(uses.map(({ key_id, used }) => [key_id, used])))
      ),
    statuses: (query) =>
      Effect.andThen(write, all(DailyCalls, ...chooseStatement(query, selectStatuses(), selectStatuses(keyCondition)))),
    byStatus: (query) => {
      const [allKeys, oneKey] = [selectSums("status_of_endpoint"), selectSums("usage_of_status", keyCondition)]
      return Effect.andThen(write, all(CallsByStatus, ...chooseStatement(query, allKeys, oneKey)))
    }
  })
})

/** Stores the latest `kept` calls of each account in the console's tables. When the scope closes, the gathered calls are written. */
export const layerRequestLog = (kept: number) => Layer.effect(RequestLog, make(kept))
