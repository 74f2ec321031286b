/**
 * The latest calls of each account, and their number per day, key, endpoint and status, for the console. A convenience:
 * money is in the ledger. Calls without a known key belong to nobody and are not kept. How it is kept: `kept-requests.ts`.
 */
import { Context, type Effect, Schema, Struct } from "effect"
import type { ConsoleUnavailable } from "../console-database/console-database.ts"

/** An answered call, charged or refused. */
export const NotedRequest = Schema.Struct({
  /** As in X-Request-Id. */
  id: Schema.String,
  account_id: Schema.String,
  key_id: Schema.String,
  /** The path as it is charged, such as `/v1/stores/{id}`. */
  endpoint: Schema.String,
  /** Of HTTP; 499 where the caller went away. */
  status: Schema.Int,
  /** Charged for it; 0 for a call that was refused or failed. */
  credits: Schema.Int,
  duration_ms: Schema.Finite,
  /** ISO text in UTC. */
  occurred_at: Schema.String
})
export type NotedRequest = typeof NotedRequest.Type

export const CallsOfStatus = Schema.Struct({
  /** In UTC. */
  day: Schema.String,
  key_id: Schema.String,
  endpoint: Schema.String,
  status: Schema.Int,
  calls: Schema.Int
})
export type CallsOfStatus = typeof CallsOfStatus.Type

/** Of all days, keys and endpoints that were asked for. */
export const CallsByStatus = CallsOfStatus.mapFields(Struct.pick(["status", "calls"]))
export type CallsByStatus = typeof CallsByStatus.Type

/** How far back the days of calls are asked for a key's last use. */
export const lastUseDays = 90

/** Where a page of requests ended; the next one begins behind it. */
export type PlaceInRequests = Pick<NotedRequest, "occurred_at" | "id">

export interface RequestsAsked {
  readonly account_id: string
  readonly id?: string
  readonly key_id?: string
  readonly endpoint?: string
  readonly status?: number
  readonly before?: PlaceInRequests
  /** 1 to 1,000. */
  readonly limit: number
}

/** Both days included; of all calls, or of one key's, or to one endpoint. */
export interface StatusesAsked {
  readonly account_id: string
  readonly from: string
  readonly to: string
  readonly key_id?: string
  readonly endpoint?: string
}

interface Log {
  /** Costs next to nothing, and never fails: it is written within five seconds, or counted as dropped. */
  readonly note: (request: NotedRequest) => void
  /** How many calls were not written since the start; of a batch that broke off, those that were are counted, too. */
  readonly dropped: () => number
  /** Newest first, of the latest 10,000 calls of the account; what this process has noted is included. */
  readonly latest: (asked: RequestsAsked) => Effect.Effect<ReadonlyArray<NotedRequest>, ConsoleUnavailable>
  /**
   * When each of some keys of the account was last used, by id: a moment while that call is kept, else a day of the last 90.
   * Keys that were not are missing. One statement, however many keys there are.
   */
  readonly lastUses: (asked: {
    readonly account_id: string
    readonly keys: ReadonlyArray<string>
    readonly today: string
  }) => Effect.Effect<ReadonlyMap<string, string>, ConsoleUnavailable>
  /** By day, key, endpoint and status. What this process has noted is included. */
  readonly statuses: (asked: StatusesAsked) => Effect.Effect<ReadonlyArray<CallsOfStatus>, ConsoleUnavailable>
  /** The same added up, in the order of the statuses. */
  readonly byStatus: (asked: StatusesAsked) => Effect.Effect<ReadonlyArray<CallsByStatus>, ConsoleUnavailable>
}

export class RequestLog extends Context.Service<RequestLog, Log>()("larder/serve/RequestLog") {}
