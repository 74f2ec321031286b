/**
 * An endpoint as a value: path, scope, price, parameters and response. Routes, the OpenAPI document and error messages
 * are derived from these values. Each data set lists its endpoints, and `data-sets.ts` lists the data sets.
 */
import { Schema } from "effect"
import { type Invalid, invalid, type RecordName } from "./api-errors.ts"
import { type Parameters, type Read, readQuery, type Values } from "./parameters.ts"

/** A call that works with the bundled samples, and its response. */
interface EndpointExample {
  readonly summary: string
  readonly target: string
  /** The body of the 200. The times of a load (`fetched_at`, `first_seen_at`) differ from load to load. */
  readonly body: unknown
}
export type Examples = Readonly<Record<string, EndpointExample>>

interface Declaration<P extends Parameters, R extends Schema.Constraint, S extends string, T extends string> {
  /** Name of the operation, also in OpenAPI. */
  readonly id: string
  /** `/v1/stores/:id/products`. Matched exactly: with a trailing slash, it is a different path. */
  readonly path: string
  readonly scope: S
  /** Price of a successful call in credits; 1,000 credits are 1.00 USD. */
  readonly credits: number
  /** The tag of its data set. */
  readonly tag: T
  readonly summary: string
  readonly description: string
  /** Advice for assistants: when to use the tool, and what to call next. */
  readonly use: string
  readonly parameters: P
  /** Checks parameters against each other. */
  readonly rule?: (values: Values<P>, query: QueryNames) => Invalid | undefined
  readonly response: R
  /**
   * How the OpenAPI document describes the response, if client generators fail on `response`. It accepts all responses.
   */
  readonly documented?: Schema.Constraint
  /** One response of each shape, for the documentation. */
  readonly examples: Examples
  /** Errors of `rule`, and of names that are not in the catalogs, for the documentation. */
  readonly refusals: ReadonlyArray<Invalid>
  /** The kind of record that the id in the path names, for the message of the 404: `Unknown store: <id>`. */
  readonly record?: RecordName
}

/** Names of the parameters in a query, including empty ones. */
export type QueryNames = Pick<URLSearchParams, "has">

/** The rule is part of `parse`, so that endpoints with different parameters fit into one list. */
export interface Endpoint<
  P extends Parameters = Parameters,
  R extends Schema.Constraint = Schema.Constraint,
  S extends string = string,
  T extends string = string
> extends Omit<Declaration<P, R, S, T>, "rule"> {
  readonly parse: (query: URLSearchParams) => Read<Values<P>>
}

export const endpoint = <
  P extends Parameters,
  R extends Schema.Constraint,
  const S extends string,
  const T extends string
>({
  rule,
  ...declared
}: Declaration<P, R, S, T>): Endpoint<P, R, S, T> => ({
  ...declared,
  parse: (query) => {
    const read = readQuery(declared.parameters, query)
    if ("invalid" in read) return read
    return rule?.(read.value, query) ?? read
  }
})

/** A data set as the API and its documents present it. */
export interface ApiDataSet {
  /** The pipeline that fills it. Also the name of its guide below `/docs`. */
  readonly pipeline: string
  /** Its name for people, and the tag of its endpoints. */
  readonly tag: string
  /** Its contents, as part of a sentence. */
  readonly contents: string
  /** Its contents and source, for assistants. */
  readonly origin: string
  /** The description of the tag, in Markdown: contents and source. */
  readonly about: string
  /** The first call to try, without `/v1/`. */
  readonly firstCall: string
  readonly endpoints: ReadonlyArray<Endpoint>
}

/** `/v1/stores/:id` in the format of the documentation and the ledger, `/v1/stores/{id}`. */
export const templateOf = (path: string): string => path.replace(":id", "{id}")

export const fromAfterTo = invalid("from_after_to", "from must not be after to")
export const checkRange = (values: { readonly from: string | undefined; readonly to: string | undefined }) =>
  values.from !== undefined && values.to !== undefined && values.from > values.to ? fromAfterTo : undefined

export const SingleBody = <S extends Schema.Constraint>(record: S) => Schema.Struct({ data: record })
export const ListBody = <S extends Schema.Constraint>(record: S) =>
  Schema.Struct({ data: Schema.Array(record).annotate({ description: "All records, in one response." }) })
export const PageBody = <S extends Schema.Constraint>(record: S) =>
  Schema.Struct({
    data: Schema.Array(record).annotate({ description: "The records of this page, in the endpoint's order." }),
    next_cursor: Schema.NullOr(Schema.String).annotate({
      description: "Pass it as `cursor` to get the next page; null means that this is the last page."
    })
  })
