/**
 * Parameters of endpoints as values: how each is read from a query string, which values it refuses with which message,
 * and how it is documented. Only the format of a value is checked here. Names of series and metrics are
 * checked where the catalogs are.
 */
import { Schema } from "effect"
import { type Invalid, invalid } from "./api-errors.ts"
import { isDay } from "./dates.ts"
import { findNearest } from "./nearest.ts"

export type Read<A> = { readonly value: A } | Invalid

export interface Parameter<A> {
  readonly kind: "text" | "country" | "day" | "limit" | "cursor" | "list"
  readonly description: string
  readonly required: boolean
  /** The meaning of the value, for the documentation: an integer from 1 to 200, not the string that encodes it. */
  readonly schema: Schema.Constraint
  readonly example?: string | number
  /** `text` is undefined if the parameter is absent. */
  readonly read: (name: string, text: string | undefined) => Read<A>
  /** Every error of `read`, and of what the server checks later, for the documentation. */
  readonly refusals: (name: string) => ReadonlyArray<Invalid>
}

type Documentation = { readonly description: string; readonly example?: string }

/** A text filter. Empty equals absent. */
export const text = (options: Documentation): Parameter<string | undefined> => ({
  kind: "text",
  required: false,
  schema: Schema.String,
  ...options,
  read: (_name, text) => ({ value: text === "" ? undefined : text }),
  refusals: () => []
})

const invalidCountry = (name: string) =>
  invalid("invalid_parameter", `${name} must be a two-letter country code (ISO 3166-1 alpha-2)`)

/** A country by its ISO 3166-1 alpha-2 code, read in upper case. Empty equals absent. */
export const country = (options: Documentation): Parameter<string | undefined> => ({
  kind: "country",
  required: false,
  schema: Schema.String.check(Schema.isPattern(/^([A-Za-z]{2})?$/u)), // a code, or empty for absent
  ...options,
  read: (name, text) => {
    if (text === undefined || text === "") return { value: undefined }
    return /^[A-Za-z]{2}$/.test(text) ? { value: text.toUpperCase() } : invalidCountry(name)
  },
  refusals: (name) => [invalidCountry(name)]
})

const invalidDay = (name: string) =>
  invalid("invalid_parameter", `${name} must be a real calendar day in YYYY-MM-DD format`)

/** A calendar day. Rejects an empty string and a day that does not exist. */
export const day = (options: Documentation): Parameter<string | undefined> => ({
  kind: "day",
  required: false,
  schema: Schema.String.annotate({ format: "date" }),
  ...options,
  description: `${options.description} A real calendar day, \`YYYY-MM-DD\`, in the years 0001 to 9999.`,
  read: (name, text) => (text === undefined || isDay(text) ? { value: text } : invalidDay(name)),
  refusals: (name) => [invalidDay(name)]
})

interface LimitOptions {
  readonly description: string
  readonly default: number
  /**
   * Whether the presence of the parameter alone selects the shape of the response. Then the schema has no default,
   * because some generated clients send defaults with every call, and no example, because tools fill in examples.
   */
  readonly isShapeSelector?: true
  readonly maximum: number
  /** A larger limit is rejected with this error, or served as the maximum. */
  readonly aboveMaximum: Invalid | "served as the maximum"
}

const invalidLimit = (name: string) => invalid("invalid_parameter", `${name} must be a whole number of at least 1`)

/** Rows per page: digits only, at least 1. The number may have any length. */
export const limit = (options: LimitOptions): Parameter<number> => ({
  kind: "limit",
  required: false,
  description:
    options.aboveMaximum === "served as the maximum"
      ? `${options.description} Values above ${options.maximum} count as ${options.maximum}.`
      : options.description,
  ...(!options.isShapeSelector && { example: options.default }),
  schema: Schema.Int.check(
    options.aboveMaximum === "served as the maximum"
      ? Schema.isGreaterThanOrEqualTo(1)
      : Schema.isBetween({ minimum: 1, maximum: options.maximum })
  ).annotate(options.isShapeSelector ? {} : { default: options.default }),
  read: (name, text) => {
    if (text === undefined) return { value: options.default }
    if (!/^[0-9]+$/.test(text) || /^0+$/.test(text)) return invalidLimit(name)
    const value = Number(text)
    if (value <= options.maximum) return { value }
    return options.aboveMaximum === "served as the maximum" ? { value: options.maximum } : options.aboveMaximum
  },
  refusals: (name) => [
    invalidLimit(name),
    ...(options.aboveMaximum === "served as the maximum" ? [] : [options.aboveMaximum])
  ]
})

/** The 400 for a cursor that was changed or truncated, or that belongs to another endpoint, id or filters. */
export const foreignCursor = invalid(
  "cursor_damaged",
  "cursor is damaged, or belongs to another endpoint, id or set of filters"
)

/** Start of the next page: the `next_cursor` of the page before. Empty equals absent. The server checks its content. */
export const cursor: Parameter<string | undefined> = {
  kind: "cursor",
  required: false,
  description:
    "The `next_cursor` of the previous page, unchanged. It belongs to this endpoint and these filters, stays valid after restarts and new data, and may be used with another `limit`. Without it, the first page is returned.",
  schema: Schema.String,
  read: (_name, text) => ({ value: text === "" ? undefined : text }),
  refusals: () => [foreignCursor]
}

const missingNames = (name: string) =>
  invalid("missing_parameter", `${name} is required: 1 to 100 names, separated by commas`)
const tooManyNames = (name: string, count: number) =>
  invalid("too_many_names", `${name} takes at most 100 names, ${count} were given`)
const emptyName = (name: string) => invalid("invalid_parameter", `${name} has an empty name between its commas`)

/** 1 to 100 names, separated by commas; required. Case-sensitive, not trimmed. Duplicates count, and are kept. */
export const list = (options: Documentation): Parameter<ReadonlyArray<string>> => ({
  kind: "list",
  required: true,
  schema: Schema.String.check(Schema.isPattern(/^[^,]+(,[^,]+){0,99}$/u)),
  ...options,
  description: `${options.description} Case-sensitive, without spaces. A repeated name is returned again, and counts again.`,
  read: (name, text) => {
    if (text === undefined || text === "") return missingNames(name)
    const names = text.split(",")
    if (names.length > 100) return tooManyNames(name, names.length)
    return names.includes("") ? emptyName(name) : { value: names }
  },
  refusals: (name) => [missingNames(name), emptyName(name), tooManyNames(name, 101)]
})

export type Parameters = Readonly<Record<string, Parameter<unknown>>>
export type Values<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer A> ? A : never }

/** `nearest` is undefined if the endpoint takes no parameters. */
const unknownParameter = (name: string, nearest: string | undefined): Invalid => {
  const advice = nearest === undefined ? "This endpoint takes none." : `Did you mean ${nearest}?`
  return invalid("unknown_parameter", `Unknown query parameter: ${name}. ${advice}`)
}
const unnamedParameter = invalid("unknown_parameter", "A parameter has no name")
const repeatedParameter = (name: string) => invalid("repeated_parameter", `Repeated query parameter: ${name}`)

/** The messages of `readQuery` for wrong names, for the documentation. */
export const wrongNames = (parameters: Parameters): ReadonlyArray<Invalid> => [
  unknownParameter("<name>", Object.keys(parameters).length === 0 ? undefined : "<nearest>"),
  unnamedParameter,
  repeatedParameter("<name>")
]

/**
 * Reads a query against the parameters: unknown names first, then repeated ones, then each value in declared order.
 * The message of the first failure names its parameter.
 */
export const readQuery = <P extends Parameters>(parameters: P, query: URLSearchParams): Read<Values<P>> => {
  const given = new Map<string, string>()
  let repeated: string | undefined
  for (const [name, value] of query) {
    if (name === "") return unnamedParameter
    if (!Object.hasOwn(parameters, name)) return unknownParameter(name, findNearest(name, Object.keys(parameters)))
    if (given.has(name)) repeated ??= name
    given.set(name, value)
  }
  if (repeated !== undefined) return repeatedParameter(repeated)
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    const read = parameter.read(name, given.get(name))
    if ("invalid" in read) return read
    values[name] = read.value
  }
  return { value: values as Values<P> } // each key was read by the parameter of that name
}
