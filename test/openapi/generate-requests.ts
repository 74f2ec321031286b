/**
 * Generates requests from the document: for each parameter valid values, values at and beyond its bounds, and arbitrary
 * texts, in every encoding; unknown, repeated and missing parameters; ids in every format.
 */
import type { OpenApiDocument } from "@larder/schemas/openapi.ts"
import fc from "fast-check"
import type { KnownNames } from "./known-names.ts"
import { invalidEncodings, unusualDays, unusualNumbers, unusualTexts } from "./unusual-texts.ts"

export type Operation = OpenApiDocument["paths"][string]["get"]
type Parameter = Operation["parameters"][number]

/** The first three send no valid key; the last two have every scope and cannot pay. */
export type Caller =
  | "no_key"
  | "unknown_key"
  | "malformed_key"
  | "all_scopes"
  | "even_scopes"
  | "odd_scopes"
  | "no_balance"
  | "no_budget"

export interface GeneratedRequest {
  readonly template: string
  readonly operation: Operation
  /** Path and query as they are sent. */
  readonly target: string
  readonly caller: Caller
}

/** Request line and headers must stay below 16 KiB; larger requests reach no operation. */
const maxTargetLength = 14_000

const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...unusualTexts) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom("a", "%", "é", "奶", "🥛", "\u0000", ",", "a,"),
        fc.integer({ min: 100, max: maxTargetLength })
      )
      .map(([unit, length]) => unit.repeat(length / unit.length))
  }
)

const encodeEveryByte = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
const queryEncodings: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  encodeURIComponent,
  encodeURIComponent,
  (text) => new URLSearchParams([["", text]]).toString().slice(1),
  (text) => encodeURIComponent(text).replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
  encodeEveryByte
)
const pathEncodings = fc.constantFrom(encodeURIComponent, encodeURIComponent, encodeEveryByte)

const encodeText = (text: fc.Arbitrary<string>, encodings: typeof queryEncodings): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 15, arbitrary: fc.tuple(text, encodings).map(([text, encode]) => encode(text)) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...invalidEncodings), fc.constantFrom("", "a")).map((parts) => parts.join(""))
    }
  )

const anyDay = fc
  .date({ min: new Date("1990-01-01T00:00:00Z"), max: new Date("2035-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))

/** Texts that the schema accepts. */
const generateValid = ({ schema }: Parameter, known: ReadonlyArray<string>): fc.Arbitrary<string> => {
  if (schema.type === "integer") {
    const { minimum, maximum } = schema
    return fc.integer({ min: Number(minimum ?? 0), max: Number(maximum ?? 1_000) }).map(String)
  }
  if (schema.format === "date") return anyDay
  const knownTexts = known.length === 0 ? [] : [{ weight: 3, arbitrary: fc.constantFrom(...known) }]
  if (typeof schema.pattern === "string") {
    const lists =
      known.length === 0
        ? []
        : [fc.array(fc.constantFrom(...known), { minLength: 1, maxLength: 101 }).map((names) => names.join())]
    return fc.oneof(...knownTexts, ...lists.map((arbitrary) => ({ weight: 1, arbitrary })), {
      weight: 1,
      arbitrary: fc.stringMatching(new RegExp(schema.pattern, "u"))
    })
  }
  return fc.oneof(...knownTexts, { weight: 1, arbitrary: anyText })
}

/** Texts at the bounds of the schema, beyond them, and in any format. */
const generateUnusual = ({ schema }: Parameter): fc.Arbitrary<string> => {
  const bounds = [schema.minimum, schema.maximum].flatMap((bound) =>
    typeof bound === "number" ? [bound - 1, bound, bound + 1].map(String) : []
  )
  const texts = [
    ...bounds,
    ...(schema.type === "integer" ? unusualNumbers : []),
    ...(schema.format === "date" ? unusualDays : []),
    ",",
    "a,,b",
    ",a"
  ]
  return fc.oneof(fc.constantFrom(...texts), anyText)
}

interface SentParameter {
  readonly name: string
  /** With its equals sign, if it has one. */
  readonly value: string
}
const generateParameter = ({ name }: Parameter, texts: fc.Arbitrary<string>): fc.Arbitrary<SentParameter> =>
  encodeText(texts, queryEncodings).map((text) => ({ name, value: `=${text}` }))

/** Parameters that the operation may not have. */
const generateOther = (names: ReadonlyArray<string>): fc.Arbitrary<SentParameter> =>
  fc.record({
    name: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.constantFrom(...names).map((name) => name.toUpperCase()) },
      { weight: 2, arbitrary: encodeText(anyText, queryEncodings) }
    ),
    value: fc.oneof(
      fc.constant(""),
      encodeText(anyText, queryEncodings).map((text) => `=${text}`)
    )
  })

const generateQuery = (operation: Operation, known: KnownNames, names: ReadonlyArray<string>): fc.Arbitrary<string> => {
  const parameters = operation.parameters.filter((parameter) => parameter.in === "query")
  const sent = parameters.map((parameter) => {
    const texts = known.get(`${operation.operationId} ${parameter.name}`) ?? []
    const { example } = parameter
    const valid = generateValid(parameter, example === undefined ? texts : [...texts, String(example)])
    const usual = { weight: 8, arbitrary: generateParameter(parameter, valid).map((sent) => [sent]) }
    const absent = { weight: parameter.required ? 1 : 14, arbitrary: fc.constant<ReadonlyArray<SentParameter>>([]) }
    const unusual = generateParameter(parameter, generateUnusual(parameter)).map((sent) => [sent])
    return fc.oneof(usual, absent, { weight: 1, arbitrary: unusual })
  })
  const extra = fc.oneof(
    { weight: 12, arbitrary: fc.constant<ReadonlyArray<SentParameter>>([]) },
    { weight: 2, arbitrary: fc.array(generateOther(names), { minLength: 1, maxLength: 3 }) },
    ...parameters.map((parameter) => ({
      weight: 1,
      arbitrary: fc.array(generateParameter(parameter, generateValid(parameter, [])), { minLength: 2, maxLength: 2 })
    }))
  )
  return fc
    .tuple(fc.tuple(...sent), extra, fc.boolean(), fc.constantFrom("&", "&", "&&"))
    .map(([declared, extra, isExtraLast, separator]) => {
      const pairs = isExtraLast ? [...declared.flat(), ...extra] : [...extra, ...declared.flat()]
      return pairs.map(({ name, value }) => `${name}${value}`).join(separator)
    })
}

const generateId = (known: ReadonlyArray<string>): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: encodeText(fc.constantFrom(...known), pathEncodings) },
    { weight: 2, arbitrary: encodeText(anyText, pathEncodings) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(...known)
        .chain((id) => fc.constantFrom(id.toUpperCase(), `${id}0`, id.slice(0, -1), `${id}%00`, `%20${id}`, `${id}%2F`))
    }
  )

const anyCaller = fc.oneof(
  { weight: 9, arbitrary: fc.constant<Caller>("all_scopes") },
  { weight: 4, arbitrary: fc.constantFrom<Caller>("no_key", "unknown_key", "malformed_key") },
  { weight: 5, arbitrary: fc.constantFrom<Caller>("even_scopes", "odd_scopes") },
  { weight: 7, arbitrary: fc.constantFrom<Caller>("no_balance", "no_budget") }
)

export const generateRequest = (document: OpenApiDocument, known: KnownNames): fc.Arbitrary<GeneratedRequest> => {
  const operations = Object.entries(document.paths).map(([template, { get }]) => ({ template, operation: get }))
  const names = [...new Set(operations.flatMap(({ operation }) => operation.parameters.map(({ name }) => name)))]
  const byOperation = operations.map(({ operation, template }) => {
    const ids = known.get(`${operation.operationId} id`) ?? []
    const path = template.includes("{id}")
      ? generateId(ids).map((id) => template.replace("{id}", () => id))
      : fc.constant(template)
    return fc
      .tuple(path, generateQuery(operation, known, names), anyCaller)
      .map(([path, query, caller]) => ({
        template,
        operation,
        caller,
        target: query === "" ? path : `${path}?${query}`
      }))
      .filter(({ target }) => target.length <= maxTargetLength && !target.includes("//"))
  })
  return fc.oneof(...byOperation)
}
