/**
 * A route: an endpoint and its read. The request pipeline does everything else. A read receives a request that is
 * authenticated, authorised and valid and whose credits are held. It answers with the JSON text of its body.
 *
 * `validate` decides whether a call is valid: its parameters, its cursor and the names in it.
 */
import {
  type ApiError,
  type Endpoint,
  foreignCursor,
  type Invalid,
  invalidRequest,
  type Parameters,
  type Read,
  templateOf,
  type Values
} from "@larder/schemas"
import type { Generation } from "@larder/warehouse"
import { Effect } from "effect"
import { cursorScope, decodeCursor, encodeCursor, type Position } from "./cursor.ts"
import type { SharedTurn } from "./fairness/turns.ts"
import type { ReadModel } from "./read-model.ts"

export interface Request<V> {
  readonly values: V
  /** Names of the parameters that were sent, including empty ones. */
  readonly given: ReadonlySet<string>
  /** The id in the path, decoded; empty if the path has none. */
  readonly id: string
  /** Where the previous page ended; undefined for the first page. */
  readonly after: Position | undefined
  /** Makes the cursor of a page that ends at this position. */
  readonly cursorAt: (position: Position) => string
  /** Whether the call came to the host named by `LARDER_DATA_HOST`. */
  readonly onDataHost: boolean
}

export type ValidRequest = Request<Readonly<Record<string, unknown>>>

/** A refusal by a read: it found no record, or the cursor's position is invalid. */
export class Refused {
  readonly answer: ApiError
  constructor(answer: ApiError) {
    this.answer = answer
  }
}
export const refuse = (error: ApiError) => Effect.fail(new Refused(error))

export interface Route {
  readonly endpoint: Endpoint
  /** The endpoint's name in the ledger and in the docs: `/v1/stores/{id}`. */
  readonly chargedAs: string
  readonly parse: (query: URLSearchParams) => Read<Readonly<Record<string, unknown>>>
  /** The error if a name is not in the catalogs. Called before credits are held and data is read. */
  readonly unknownNames: (values: Readonly<Record<string, unknown>>, model: ReadModel) => Invalid | undefined
  /** Approximate size of the answer in bytes, known before the read. It decides how the call waits for its turn. */
  readonly expectedBytes: (request: ValidRequest, model: ReadModel) => number
  readonly read: (request: ValidRequest, generation: Generation<ReadModel>) => Effect.Effect<string, unknown>
}

/** A food record takes 2.4 kB on average, a product or store record half a kilobyte. */
const bytesOfRecord = 3_000
/** A larger `limit` is served as this one. */
const largestPage = 200
const bytesOfPage = ({ values: { limit } }: ValidRequest) =>
  bytesOfRecord * (typeof limit === "number" ? Math.min(limit, largestPage) : 1)

/** Ties a read to the types of its endpoint's parameters. */
export const route = <P extends Parameters>(
  endpoint: Endpoint<P>,
  on: {
    readonly unknownNames?: (values: Values<P>, model: ReadModel) => Invalid | undefined
    /** By default the size of a page of the largest records. */
    readonly expectedBytes?: (request: Request<Values<P>>, model: ReadModel) => number
    readonly read: (request: Request<Values<P>>, generation: Generation<ReadModel>) => Effect.Effect<string, unknown>
  }
): Route => ({
  endpoint,
  chargedAs: templateOf(endpoint.path),
  parse: endpoint.read,
  // The pipeline passes on the values that `parse` of this same endpoint returned.
  unknownNames: (values, model) => on.unknownNames?.(values as Values<P>, model),
  expectedBytes: (request, model) => on.expectedBytes?.(request as Request<Values<P>>, model) ?? bytesOfPage(request),
  read: (request, generation) => on.read(request as Request<Values<P>>, generation)
})

/** The body of a page of finished JSON records. */
export const page = (records: ReadonlyArray<string>, next: string | null) =>
  `{"data":[${records.join(",")}],"next_cursor":${JSON.stringify(next)}}`

/** What a call asks for. */
export interface Asked {
  readonly route: Route
  /** The id in the path, decoded; empty if the path has none. */
  readonly id: string
  readonly query: URLSearchParams
  readonly onDataHost: boolean
}

export interface Call extends Asked {
  readonly authorization: string | null
  /** Fires when the caller disconnects. Before the capture, that costs nothing. */
  readonly signal: AbortSignal
  /** The turn of a request with several calls. Without it, the call waits for its own turn. */
  readonly shared?: SharedTurn
}

/** The valid request, or a 400. Checks the grammar first, then the cursor, then the names against the catalogs. */
export const validate = (asked: Asked, model: ReadModel): ValidRequest | ApiError => {
  const { id, onDataHost, query, route } = asked
  const read = route.parse(query)
  if ("invalid" in read) return invalidRequest(read)
  const { cursor, limit: _, ...filters } = read.value
  const scope = route.endpoint.order === undefined ? "" : cursorScope(route.endpoint.id, id, filters)
  const after = typeof cursor === "string" ? decodeCursor(scope, cursor) : undefined
  if (cursor !== undefined && after?.length !== route.endpoint.order?.length) return invalidRequest(foreignCursor)
  const unknown = route.unknownNames(read.value, model)
  if (unknown !== undefined) return invalidRequest(unknown)
  const given = new Set(query.keys())
  const cursorAt = (position: Position) => encodeCursor(scope, position)
  return { values: read.value, given, id, after, cursorAt, onDataHost }
}
