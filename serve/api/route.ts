/** A route: an endpoint and its read, which the pipeline calls for a valid request once its credits are held. */
import {
  type ApiError,
  foreignCursor,
  type Invalid,
  invalidRequest,
  type Parameters,
  type QueryNames,
  type Read,
  type ServedEndpoint,
  templateOf,
  type Values
} from "@larder/schemas"
import type { Generation } from "@larder/warehouse"
import { type Effect, Option, Schema } from "effect"
import type { CallerIds } from "./caller-ids.ts"
import { type CursorPosition, cursorScope, type DecodePosition, decodeCursor, encodeCursor } from "./cursor.ts"
import type { Permit } from "./fairness/limiter.ts"
import type { ReadModel } from "./read-model.ts"

/** `V` are the values of the parameters, and `C` is what a cursor contains. */
export interface Request<V, C> {
  readonly values: V
  readonly query: QueryNames
  /** The id in the path, decoded; empty if the path has none. */
  readonly id: string
  /** Where the previous page ended; undefined for the first page. */
  readonly after: C | undefined
  readonly cursorAt: (position: C) => string
  /** Whether the call came to the host named by `LARDER_DATA_HOST`. */
  readonly isOnDataHost: boolean
}

export type ValidRequest = Request<Readonly<Record<string, unknown>>, CursorPosition>

/** Thrown by a read, or the failure of its Effect, if there is no such record. */
export class ReadRefused {
  readonly error: ApiError
  constructor(error: ApiError) {
    this.error = error
  }
}

/** The body. A read from memory returns it; only a read that has to wait is an Effect, because a fiber takes 8 µs. */
export type Reading = string | Effect.Effect<string, unknown>

export interface Route {
  readonly endpoint: ServedEndpoint
  /** The endpoint's name in the ledger and in the docs: `/v1/stores/{id}`. */
  readonly chargedAs: string
  readonly parse: (query: URLSearchParams) => Read<Readonly<Record<string, unknown>>>
  readonly decodePosition: DecodePosition<CursorPosition>
  /** The error if a name is not in the catalogs. Called before credits are held and data is read. */
  readonly checkNames: (values: Readonly<Record<string, unknown>>, model: ReadModel) => Invalid | undefined
  /** Approximate bytes of the response. They count against quotas; a large call also waits for an event-loop step. */
  readonly expectedBytes: (request: ValidRequest, model: ReadModel) => number
  readonly read: (request: ValidRequest, generation: Generation<ReadModel>) => Reading
}

/** Estimates a page by its `limit`, and the average size of its records. */
export const expectPage =
  (bytesPerRecord: number) =>
  ({ values: { limit } }: { readonly values: { readonly limit: number } }) =>
    bytesPerRecord * limit

/** One record: most have less. */
const recordBytes = 3_000

export const route = <P extends Parameters, C extends CursorPosition = never>(
  endpoint: ServedEndpoint<P>,
  functions: {
    /** What a cursor contains; undefined if the endpoint has no pages. */
    readonly position?: Schema.Codec<C>
    readonly checkNames?: (values: Values<P>, model: ReadModel) => Invalid | undefined
    readonly expectedBytes?: (request: Request<Values<P>, C>, model: ReadModel) => number
    readonly read: (request: Request<Values<P>, C>, generation: Generation<ReadModel>) => Reading
  }
): Route => {
  const { position } = functions
  // the pipeline passes on what `parse` and `decodePosition` of the same route returned
  const typed = (request: ValidRequest) => request as unknown as Request<Values<P>, C>
  return {
    endpoint,
    chargedAs: templateOf(endpoint.path),
    parse: endpoint.parse,
    decodePosition: position === undefined ? Option.none : Schema.decodeUnknownOption(Schema.fromJsonString(position)),
    checkNames: (values, model) => functions.checkNames?.(values as Values<P>, model),
    expectedBytes: (request, model) => functions.expectedBytes?.(typed(request), model) ?? recordBytes,
    read: (request, generation) => functions.read(typed(request), generation)
  }
}

/** The JSON of one record, or a refusal if there is none. */
export const formatRecord = (json: string | undefined, unknown: ApiError) => {
  if (json === undefined) throw new ReadRefused(unknown)
  return `{"data":${json}}`
}

export const page = (records: ReadonlyArray<string>, next: string | null) =>
  `{"data":[${records.join(",")}],"next_cursor":${JSON.stringify(next)}}`

export interface RoutedRequest {
  readonly route: Route
  readonly id: string
  readonly query: URLSearchParams
  readonly isOnDataHost: boolean
}

export interface Call extends RoutedRequest {
  readonly authorization: string | null
  /** Fires when the caller disconnects. A call that is cancelled before the charge is captured costs nothing. */
  readonly signal: AbortSignal
  /**
   * Of the request that contains the call. `release` does nothing, because that request releases its permit. Without
   * one, the call acquires its own.
   */
  readonly permit?: Permit
  /** Memory of the request, for a call that acquires its own permit and has to wait. */
  readonly requestBytes: () => number
  /** Ids that the caller gave the request, for the log. */
  readonly callerIds: () => CallerIds
}

/** The valid request, or a 400. Checks the parameters first, then the cursor, then the names against the catalogs. */
export const validate = (call: RoutedRequest, model: ReadModel): ValidRequest | ApiError => {
  const { id, isOnDataHost, query, route } = call
  const parsed = route.parse(query)
  if ("invalid" in parsed) return invalidRequest(parsed)
  const { cursor, limit: _, ...filters } = parsed.value
  const scope = "cursor" in route.endpoint.parameters ? cursorScope(route.endpoint.id, id, filters) : ""
  const after = typeof cursor === "string" ? decodeCursor(scope, cursor, route.decodePosition) : undefined
  if (cursor !== undefined && after === undefined) return invalidRequest(foreignCursor)
  const unknown = route.checkNames(parsed.value, model)
  if (unknown !== undefined) return invalidRequest(unknown)
  const cursorAt = (position: CursorPosition) => encodeCursor(scope, position)
  return { values: parsed.value, query, id, after, cursorAt, isOnDataHost }
}
