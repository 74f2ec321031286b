/**
 * An endpoint as a value: path, scope, price, parameters and response. Routes, the OpenAPI document and error texts are
 * derived from these values; the list of all of them is `endpoints.ts`, and there is no second one.
 */
import { Schema } from "effect"
import { type Invalid, invalid, type RecordName } from "./api-errors.ts"
import { type Parameters, type Read, readQuery, type Values } from "./parameters.ts"
import type { Scope } from "./scopes.ts"

/** A call as it can be made over the bundled samples, and its answer. */
export interface Example {
  /** What it shows, in a few words. */
  readonly summary: string
  /** Path and query as they are sent. */
  readonly target: string
  /** The body of the 200. The moments of a load (`fetched_at`, `first_seen_at`) differ from load to load. */
  readonly body: unknown
}
export type Examples = Readonly<Record<string, Example>>

/** What an endpoint is declared with. */
export interface Declaration<P extends Parameters, R extends Schema.Constraint = Schema.Constraint> {
  /** Name of the operation, also in OpenAPI. */
  readonly id: string
  /** `/v1/stores/:id/products`: exact, a trailing slash is another path. */
  readonly path: string
  readonly scope: Scope
  /** Price of a successful call in credits; 1,000 credits are 1.00 USD. */
  readonly credits: number
  readonly tag: "Commodities" | "Branded foods" | "Storefronts"
  readonly summary: string
  readonly description: string
  readonly parameters: P
  /** What holds between parameters: undefined, or what is wrong. `given` holds the names that were sent. */
  readonly rule?: (values: Values<P>, given: ReadonlySet<string>) => Invalid | undefined
  readonly response: R
  /** How the OpenAPI document describes the response, where generators of clients fail on what it is. It takes every response. */
  readonly documented?: Schema.Constraint
  /** One answer of each shape, for documents. */
  readonly examples: Examples
  /** What a 400 says that is known beforehand, for documents. */
  readonly refusals: ReadonlyArray<Invalid>
  /** What the id in the path names: `Unknown store: <id>` is the 404. */
  readonly record?: RecordName
  /** Columns that a page is ordered by: what a cursor holds. */
  readonly order?: ReadonlyArray<string>
}

/** The rule is inside `read`, so that endpoints with different parameters fit into one list. */
export interface Endpoint<P extends Parameters = Parameters, R extends Schema.Constraint = Schema.Constraint>
  extends Omit<Declaration<P, R>, "rule"> {
  /** Reads and judges the query of one request. */
  readonly read: (query: URLSearchParams) => Read<Values<P>>
}

/** Keeps the types of parameters and response. */
export const endpoint = <P extends Parameters, R extends Schema.Constraint>({
  rule,
  ...declared
}: Declaration<P, R>): Endpoint<P, R> => ({
  ...declared,
  read: (query) => {
    const read = readQuery(declared.parameters, query)
    if ("invalid" in read) return read
    return rule?.(read.value, new Set(query.keys())) ?? read
  }
})

/** `/v1/stores/:id` as documents and the ledger write it, `/v1/stores/{id}`. */
export const templateOf = (path: string): string => path.replace(":id", "{id}")

export const fromAfterTo = invalid("from_after_to", "from must not be after to")
/** `from` after `to` is refused wherever both exist. */
export const fromNotAfterTo = (values: { readonly from: string | undefined; readonly to: string | undefined }) =>
  values.from !== undefined && values.to !== undefined && values.from > values.to ? fromAfterTo : undefined

export const Single = <S extends Schema.Constraint>(record: S) => Schema.Struct({ data: record })
export const List = <S extends Schema.Constraint>(record: S) =>
  Schema.Struct({ data: Schema.Array(record).annotate({ description: "All records, in one answer." }) })
export const Page = <S extends Schema.Constraint>(record: S) =>
  Schema.Struct({
    data: Schema.Array(record).annotate({ description: "The records of this page, in the order of the endpoint." }),
    next_cursor: Schema.NullOr(Schema.String).annotate({
      description: "Pass it back as `cursor` for the next page; null means that this was the last."
    })
  })
