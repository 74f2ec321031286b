/**
 * The differences between two documents that break a client written for the first. A response may state more, but not
 * less; a request may need less, but not more.
 */
import type { Field, OperationPromise, ParameterPromise, Promises, ResponsePromise } from "./promises.ts"
import type { Value } from "./values.ts"

/** One sentence for each broken promise. */
export const findBreaks = (promised: Promises, current: Promises): ReadonlyArray<string> => [
  ...findMissing(promised.servers, current.servers).map((url) => `the server ${url} was removed`),
  ...compareEach(promised.error, current.error, "every error: field ", findFieldBreaks),
  ...compareEach(promised.headers, current.headers, "header ", findFieldBreaks),
  ...compareEach(promised.operations, current.operations, "", (before, after) => findOperationBreaks(before, after))
]

const findMissing = (before: ReadonlyArray<string>, after: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  before.filter((text) => !after.includes(text))

/** Compares the members with the same name, and reports the members that only the first has as removed. */
const compareEach = <A>(
  before: Readonly<Record<string, A>>,
  after: Readonly<Record<string, A>>,
  kind: string,
  compare: (before: A, after: A) => ReadonlyArray<string>
): ReadonlyArray<string> =>
  Object.entries(before).flatMap(([name, member]) => {
    const counterpart = after[name]
    if (counterpart === undefined) return [`${kind}${name} was removed`]
    return compare(member, counterpart).map((problem) => `${kind}${name}: ${problem}`)
  })

const findOperationBreaks = (before: OperationPromise, after: OperationPromise): ReadonlyArray<string> => [
  ...(before.id === after.id ? [] : [`its operationId was ${before.id} and is ${after.id}`]),
  ...(before.scope === after.scope ? [] : [`its scope was ${before.scope} and is ${after.scope}`]),
  ...(before.credits >= after.credits ? [] : [`its price was ${before.credits} credits and is ${after.credits}`]),
  ...findMissing(before.keys, after.keys).map((scheme) => `a key is no longer accepted as ${scheme}`),
  ...compareEach(before.parameters, after.parameters, "parameter ", findParameterBreaks),
  ...Object.entries(after.parameters).flatMap(([name, { required }]) =>
    required && before.parameters[name] === undefined ? [`parameter ${name} is new and required`] : []
  ),
  ...Object.entries(before.responses).flatMap(([status, response]) => {
    const current = after.responses[status]
    if (current !== undefined) return findResponseBreaks(response, current).map((problem) => `${status}: ${problem}`)
    return status.startsWith("2") ? [`${status} was removed`] : [] // an error that no longer occurs breaks no client
  }),
  ...findMissing(Object.keys(after.responses), Object.keys(before.responses)).flatMap((status) =>
    isUnexpected.test(status) ? [`${status} is new`] : []
  )
]

/** Clients recognise errors by their type, not by status. They expect only 200, follow no redirects and never slow down. */
const isUnexpected = /^(?:[23]|429$|4XX$|default$)/

const findParameterBreaks = (before: ParameterPromise, after: ParameterPromise): ReadonlyArray<string> => [
  ...(after.required && !before.required ? ["is required now"] : []),
  ...(JSON.stringify(before.default) === JSON.stringify(after.default)
    ? []
    : [`its default was ${before.default} and is ${after.default}`]),
  ...findLost(before, after).map((values) => `no longer accepts values that are ${values}`)
]

const findResponseBreaks = (before: ResponsePromise, after: ResponsePromise): ReadonlyArray<string> => [
  ...findMissing(before.headers, after.headers).map((name) => `header ${name} was removed`),
  ...findMissing(before.content, after.content).map((type) => `it is no longer ${type}`),
  ...findMissing(after.content, before.content).map((type) => `it may be ${type} now`),
  ...findMissing(after.errors ?? [], before.errors).map((type) => `its type may be ${type} now`),
  ...compareEach(before.fields ?? {}, after.fields ?? {}, "field ", findFieldBreaks)
]

const findFieldBreaks = (before: Field, after: Field): ReadonlyArray<string> => [
  ...(after.optional && !before.optional ? ["may be absent now"] : []),
  ...findLost(after, before).map((values) => `may be ${values} now`)
]

const lowerBounds = [
  ["minimum", "less than"],
  ["minLength", "shorter than"],
  ["minItems", "of fewer items than"]
] as const
const upperBounds = [
  ["maximum", "more than"],
  ["maxLength", "longer than"],
  ["maxItems", "of more items than"]
] as const

/** The values that the first allows and the second does not, in words. */
const findLost = (wide: Value, narrow: Value): ReadonlyArray<string> => [
  ...wide.types.filter((type) => !includesType(narrow.types, type)),
  ...findLostValues(wide.values, narrow.values),
  ...(["format", "pattern"] as const).flatMap((name) =>
    narrow[name] === undefined || narrow[name] === wide[name] ? [] : [`of another ${name} than ${narrow[name]}`]
  ),
  ...lowerBounds.flatMap(([name, words]) => {
    const bound = narrow[name]
    return bound !== undefined && (wide[name] ?? Number.NEGATIVE_INFINITY) < bound ? [`${words} ${bound}`] : []
  }),
  ...upperBounds.flatMap(([name, words]) => {
    const bound = narrow[name]
    return bound !== undefined && (wide[name] ?? Number.POSITIVE_INFINITY) > bound ? [`${words} ${bound}`] : []
  })
]

const includesType = (types: ReadonlyArray<string>, type: string) =>
  types.includes(type) || (type === "integer" && types.includes("number"))

const findLostValues = (wide: Value["values"], narrow: Value["values"]): ReadonlyArray<string> => {
  if (narrow === undefined) return []
  if (wide === undefined) return [`none of ${JSON.stringify(narrow)}`]
  return wide.filter((value) => !narrow.includes(value)).map((value) => JSON.stringify(value))
}
