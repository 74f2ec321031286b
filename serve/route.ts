/**
 * A route: an endpoint and how it is read. The request pipeline does everything else; a read sees a request that is
 * authenticated, allowed, valid and paid for, and answers with the JSON text of its body.
 */
import type { ApiError, Invalid } from "@larder/schemas/api-errors.ts"
import { type Endpoint, templateOf } from "@larder/schemas/endpoint.ts"
import type { Parameters, Read, Values } from "@larder/schemas/parameters.ts"
import type { Generation } from "@larder/warehouse/live/live.ts"
import { Effect } from "effect"
import type { Position } from "./cursor.ts"
import type { ReadModel } from "./read-model.ts"

export interface Request<V> {
  readonly values: V
  /** Names of the parameters that were sent, also empty ones. */
  readonly given: ReadonlySet<string>
  /** The id in the path, decoded; empty where the path has none. */
  readonly id: string
  /** Where the page before ended; undefined for the first page. */
  readonly after: Position | undefined
  /** Makes the cursor of a page that ends here. */
  readonly cursorAt: (position: Position) => string
  /** Whether the call came to the host named by `LARDER_DATA_HOST`. */
  readonly onDataHost: boolean
}

/** A refusal on the way: the read found no record. */
export class Refused {
  readonly answer: ApiError
  constructor(answer: ApiError) {
    this.answer = answer
  }
}
export const refuse = (error: ApiError) => Effect.fail(new Refused(error))

export interface Route {
  readonly endpoint: Endpoint
  /** How the ledger names the endpoint: `/v1/stores/{id}`, as its documents do. */
  readonly chargedAs: string
  readonly parse: (query: URLSearchParams) => Read<Readonly<Record<string, unknown>>>
  /** Names that the catalogs do not have: what is wrong. Asked before anything is paid or read. */
  readonly unknownNames: (values: Readonly<Record<string, unknown>>, model: ReadModel) => Invalid | undefined
  /** About how many bytes the answer will take, known before it is read: by that a call waits for its turn. */
  readonly expectedBytes: (request: Request<Readonly<Record<string, unknown>>>, model: ReadModel) => number
  readonly read: (
    request: Request<Readonly<Record<string, unknown>>>,
    generation: Generation<ReadModel>
  ) => Effect.Effect<string, unknown>
}

/** A record of a food takes 2.4 kB on average, one of a product or a store half a kilobyte. */
const bytesOfRecord = 3_000
/** Larger limits are served as this one. */
const largestPage = 200
const bytesOfPage = ({ values: { limit } }: Request<Readonly<Record<string, unknown>>>) =>
  bytesOfRecord * (typeof limit === "number" ? Math.min(limit, largestPage) : 1)

/** Ties a read to the types of its endpoint's parameters. */
export const route = <P extends Parameters>(
  endpoint: Endpoint<P>,
  on: {
    readonly unknownNames?: (values: Values<P>, model: ReadModel) => Invalid | undefined
    /** By default that of a page of the largest records. */
    readonly expectedBytes?: (request: Request<Values<P>>, model: ReadModel) => number
    readonly read: (request: Request<Values<P>>, generation: Generation<ReadModel>) => Effect.Effect<string, unknown>
  }
): Route => ({
  endpoint,
  chargedAs: templateOf(endpoint.path),
  parse: endpoint.read,
  // The pipeline hands back what `parse` of this very endpoint gave.
  unknownNames: (values, model) => on.unknownNames?.(values as Values<P>, model),
  expectedBytes: (request, model) => on.expectedBytes?.(request as Request<Values<P>>, model) ?? bytesOfPage(request),
  read: (request, generation) => on.read(request as Request<Values<P>>, generation)
})
