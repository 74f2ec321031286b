/**
 * The latest calls of each account, and their number per day, key, endpoint and status, for the console; the ledger
 * records the money. Calls without a known key are not stored. The implementation is in `stored-requests.ts`.
 */
import { Context, type Effect, Schema, Struct } from "effect"
import type { ConsoleUnavailable } from "../console-database.ts"

/** A finished call: charged, refused, or ended by its caller (status 499). */
export const RequestRecord = Schema.Struct({
  id: Schema.String,
  account_id: Schema.String,
  key_id: Schema.String,
  /** The path under which the call is charged, such as `/v1/stores/{id}`. */
  endpoint: Schema.String,
  status: Schema.Int,
  /** Credits charged; 0 for a call that was refused or failed. */
  credits: Schema.Int,
  duration_ms: Schema.Finite,
  occurred_at: Schema.String,
  /** Ids that the caller gave the request, so that it can be found by them. Other calls may have the same. */
  caller_request_id: Schema.NullOr(Schema.String),
  traceparent: Schema.NullOr(Schema.String)
})
export type RequestRecord = typeof RequestRecord.Type

export const DailyCalls = Schema.Struct({
  day: Schema.String,
  key_id: Schema.String,
  endpoint: Schema.String,
  status: Schema.Int,
  calls: Schema.Int
})
export type DailyCalls = typeof DailyCalls.Type

/** Summed over all requested days, keys and endpoints. */
export const CallsByStatus = DailyCalls.mapFields(Struct.pick(["status", "calls"]))
export type CallsByStatus = typeof CallsByStatus.Type

export const lastUseDays = 90

export type RequestPosition = Pick<RequestRecord, "occurred_at" | "id">

interface RequestQuery {
  readonly account_id: string
  /** Larder's id of a request, or one that its caller gave it: the request id, the `traceparent`, or its trace id. */
  readonly id?: string
  readonly key_id?: string
  readonly endpoint?: string
  readonly status?: number
  readonly before?: RequestPosition
  /** 1 to 1,000. */
  readonly limit: number
}

/** Both days are included. Covers all calls, or only those of one key or to one endpoint. */
export interface StatusQuery {
  readonly account_id: string
  readonly from: string
  readonly to: string
  readonly key_id?: string
  readonly endpoint?: string
}

interface Log {
  /** How many of the latest calls of each account are kept. */
  readonly kept: number
  /** Cheap, and never fails: the call is written within five seconds, or counted as dropped. */
  readonly record: (request: RequestRecord) => void
  /** Calls that were not written since the start. If a batch fails midway, its written calls are also counted. */
  readonly dropped: () => number
  /** Newest first, from the kept calls of the account, including all calls of this process. */
  readonly latest: (query: RequestQuery) => Effect.Effect<ReadonlyArray<RequestRecord>, ConsoleUnavailable>
  /**
   * When the given keys of the account were last used, by id: a time while that call is kept, otherwise a day of the
   * last 90. Keys that were not used are missing. One statement, regardless of the number of keys.
   */
  readonly lastUses: (query: {
    readonly account_id: string
    readonly keys: ReadonlyArray<string>
    readonly today: string
  }) => Effect.Effect<ReadonlyMap<string, string>, ConsoleUnavailable>
  /** By day, key, endpoint and status, including all calls that this process has recorded. */
  readonly statuses: (query: StatusQuery) => Effect.Effect<ReadonlyArray<DailyCalls>, ConsoleUnavailable>
  /** The same, summed per status and ordered by status. */
  readonly byStatus: (query: StatusQuery) => Effect.Effect<ReadonlyArray<CallsByStatus>, ConsoleUnavailable>
}

export class RequestLog extends Context.Service<RequestLog, Log>()("larder/serve/RequestLog") {}
