/**
 * Requests made from the document: for each parameter values that its schema takes, values at and beyond its bounds, and
 * texts that nobody foresaw, in every encoding; unknown, repeated and missing parameters; ids of every shape.
 */
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter } from "@larder/schemas"
import fc from "fast-check"
import type { Known } from "./known.ts"
import { days, noText, numbers, oddities } from "./oddities.ts"

/** Who calls. The first three show no key that is known, the last two hold every scope and cannot pay. */
export type Caller = "nobody" | "stranger" | "mumbler" | "all" | "even" | "odd" | "broke" | "paused"

export interface Asked {
  readonly template: string
  readonly operation: OpenApiOperation
  /** Path and query as they are sent. */
  readonly target: string
  readonly caller: Caller
}

/** A request line and headers must stay below 16 kB, or they are no request of an operation. */
const longestTarget = 14_000

const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...oddities) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("a", "%", "é", "奶", "🥛", "\u0000", ",", "a,"),
        fc.integer({ min: 100, max: longestTarget })
      )
      .map(([unit, length]) => unit.repeat(length / unit.length))
  }
)

const everyByte = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const inQuery: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  encodeURIComponent,
  encodeURIComponent,
  (text) => new URLSearchParams([["", text]]).toString().slice(1),
  (text) => encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  everyByte
)
const inPath = fc.constantFrom(encodeURIComponent, encodeURIComponent, everyByte)

const written = (text: fc.Arbitrary<string>, coding: fc.Arbitrary<(text: string) => string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 15, arbitrary: fc.tuple(text, coding).map(([text, code]) => code(text)) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...noText), fc.constantFrom("", "a")).map((parts) => parts.join(""))
    }
  )

const someDay = fc
  .date({ min: new Date("1990-01-01T00:00:00Z"), max: new Date("2035-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

/** Texts that the schema takes. */
const valid = ({ schema }: OpenApiParameter, known: ReadonlyArray<string>): fc.Arbitrary<string> => {
  if (schema.type === "integer") {
    const { minimum, maximum } = schema
    return fc.integer({ min: Number(minimum ?? 0), max: Number(maximum ?? 1_000) }).map(String)
  }
  if (schema.format === "date") return someDay
  const given = known.length === 0 ? [] : [{ weight: 3, arbitrary: fc.constantFrom(...known) }]
  if (typeof schema.pattern === "string") {
    const lists =
      known.length === 0
        ? []
        : [fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 101 }).map((names) => names.join())]
    return fc.oneof(...given, ...lists.map((arbitrary) => ({ weight: 1, arbitrary })), {
      weight: 1,
      arbitrary: fc.stringMatching(new RegExp(schema.pattern, "u"))
    })
  }
  return fc.oneof(...given, { weight: 1, arbitrary: anyText })
}

/** Texts at its bounds, beyond them, and of no form at all. */
const doubtful = ({ schema }: OpenApiParameter): fc.Arbitrary<string> => {
  const bounds = [schema.minimum, schema.maximum].flatMap((bound) =>
    typeof bound === "number" ? [bound - 1, bound, bound + 1].map(String) : []
  )
  const odd = [
    ...bounds,
    ...(schema.type === "integer" ? numbers : []),
    ...(schema.format === "date" ? days : []),
    ",",
    "a,,b",
    ",a"
  ]
  return fc.oneof(fc.constantFrom(...odd), anyText)
}

interface Sent {
  readonly name: string
  /** With its equals sign, where there is one. */
  readonly value: string
}
const value = (parameter: OpenApiParameter, known: ReadonlyArray<string>, isDoubtful: boolean): fc.Arbitrary<Sent> =>
  written(isDoubtful ? doubtful(parameter) : valid(parameter, known), inQuery).map((value) => ({
    name: parameter.name,
    value: `=${value}`
  }))

/** What else may stand in a query. */
const stray = (names: ReadonlyArray<string>): fc.Arbitrary<Sent> =>
  fc.record({
    name: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => name.toUpperCase()) },
      { weight: 2, arbitrary: written(anyText, inQuery) }
    ),
    value: fc.oneof(
      fc.constant(""),
      written(anyText, inQuery).map((text) => `=${text}`)
    )
  })

const queryOf = (operation: OpenApiOperation, known: Known, names: ReadonlyArray<string>): fc.Arbitrary<string> => {
  const parameters = operation.parameters.filter((parameter) => parameter.in === "query")
  const sent = parameters.map((parameter) => {
    const texts = known.get(`${operation.operationId} ${parameter.name}`) ?? []
    const { example } = parameter
    const good = value(parameter, example === undefined ? texts : [...texts, String(example)], false)
    const usual = { weight: 8, arbitrary: good.map((sent) => [sent]) }
    const absent = { weight: parameter.required ? 1 : 14, arbitrary: fc.constant<ReadonlyArray<Sent>>([]) }
    const bad = { weight: 1, arbitrary: value(parameter, [], true).map((sent) => [sent]) }
    return fc.oneof(usual, absent, bad)
  })
  const more = fc.oneof(
    { weight: 12, arbitrary: fc.constant<ReadonlyArray<Sent>>([]) },
    { weight: 2, arbitrary: fc.array(stray(names), { minLength: 1, maxLength: 3 }) },
    ...parameters.map((parameter) => ({
      weight: 1,
      arbitrary: fc.array(value(parameter, [], false), { minLength: 2, maxLength: 2 })
    }))
  )
  return fc
    .tuple(fc.tuple(...sent), more, fc.boolean(), fc.constantFrom("&", "&", "&&"))
    .map(([given, others, last, and]) => {
      const all = last ? [...given.flat(), ...others] : [...others, ...given.flat()]
      return all.map(({ name, value }) => `${name}${value}`).join(and)
    })
}

const idOf = (known: ReadonlyArray<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: written(fc.constantFrom(...known), inPath) },
    { weight: 2, arbitrary: written(anyText, inPath) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(...known)
        .chain((id) => fc.constantFrom(id.toUpperCase(), `${id}0`, id.slice(0, -1), `${id}%00`, `%20${id}`, `${id}%2F`))
    }
  )

const callerOf = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Caller>("all") },
  { weight: 4, arbitrary: fc.constantFrom<Caller>("nobody", "stranger", "mumbler") },
  { weight: 5, arbitrary: fc.constantFrom<Caller>("even", "odd") },
  { weight: 7, arbitrary: fc.constantFrom<Caller>("broke", "paused") }
)

export const requestsOf = (document: OpenApiDocument, known: Known): fc.Arbitrary<Asked> => {
  const operations = Object.entries(document.paths).map(([template, { get }]) => ({ template, operation: get }))
  const names = [...new Set(operations.flatMap(({ operation }) => operation.parameters.map(({ name }) => name)))]
  const of = operations.map(({ operation, template }) => {
    const ids = known.get(`${operation.operationId} id`) ?? []
    const path = template.includes("{id}")
      ? idOf(ids).map((id) => template.replace("{id}", () => id))
      : fc.constant(template)
    return fc
      .tuple(path, queryOf(operation, known, names), callerOf)
      .map(([path, query, caller]) => ({
        template,
        operation,
        caller,
        target: query === "" ? path : `${path}?${query}`
      }))
      .filter(({ target }) => target.length <= longestTarget && !target.includes("//"))
  })
  return fc.oneof(...of)
}
