/**
 * What changed between two documents that breaks a client which was written for the first. An answer may say more and
 * nothing less; a request may be asked for less and nothing more.
 */
import type { AnswerPromise, Field, OperationPromise, ParameterPromise, Promises } from "./promises.ts"
import type { Value } from "./values.ts"

/** One sentence for each promise that is not kept. */
export const broken = (promised: Promises, now: Promises): ReadonlyArray<string> => [
  ...missing(promised.servers, now.servers).map((url) => `the server ${url} is gone`),
  ...eachKept(promised.error, now.error, "every error: field ", brokenField),
  ...eachKept(promised.headers, now.headers, "header ", brokenField),
  ...eachKept(promised.operations, now.operations, "", (before, after) => brokenCall(before, after))
]

const missing = (before: ReadonlyArray<string>, after: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  before.filter((text) => !after.includes(text))

/** What is in the first and not in the second is gone; what is in both is compared. */
const eachKept = <A>(
  before: Readonly<Record<string, A>>,
  after: Readonly<Record<string, A>>,
  kind: string,
  compare: (before: A, after: A) => ReadonlyArray<string>
): ReadonlyArray<string> =>
  Object.entries(before).flatMap(([name, one]) => {
    const other = after[name]
    if (other === undefined) return [`${kind}${name} is gone`]
    return compare(one, other).map((what) => `${kind}${name}: ${what}`)
  })

const brokenCall = (before: OperationPromise, after: OperationPromise): ReadonlyArray<string> => [
  ...(before.id === after.id ? [] : [`its operationId was ${before.id} and is ${after.id}`]),
  ...(before.scope === after.scope ? [] : [`its scope was ${before.scope} and is ${after.scope}`]),
  ...(before.credits >= after.credits ? [] : [`its price was ${before.credits} credits and is ${after.credits}`]),
  ...missing(before.keys, after.keys).map((way) => `a key is not taken as ${way} any more`),
  ...eachKept(before.parameters, after.parameters, "parameter ", brokenParameter),
  ...Object.entries(after.parameters).flatMap(([name, { required }]) =>
    required && before.parameters[name] === undefined ? [`parameter ${name} is new and required`] : []
  ),
  ...Object.entries(before.answers).flatMap(([status, answer]) => {
    const now = after.answers[status]
    if (now !== undefined) return brokenAnswer(answer, now).map((what) => `${status}: ${what}`)
    return status.startsWith("2") ? [`${status} is gone`] : [] // an error that does not happen any more breaks nobody
  }),
  ...missing(Object.keys(after.answers), Object.keys(before.answers)).flatMap((status) =>
    isUnforeseen.test(status) ? [`${status} is new`] : []
  )
]

/** An error is told by its type, whatever its status. A client looks for 200 alone, does not redirect, and never slows down. */
const isUnforeseen = /^(?:[23]|429$|4XX$|default$)/

const brokenParameter = (before: ParameterPromise, after: ParameterPromise): ReadonlyArray<string> => [
  ...(after.required && !before.required ? ["is required now"] : []),
  ...(JSON.stringify(before.default) === JSON.stringify(after.default)
    ? []
    : [`its default was ${before.default} and is ${after.default}`]),
  ...lost(before, after).map((what) => `takes nothing more that is ${what}`)
]

const brokenAnswer = (before: AnswerPromise, after: AnswerPromise): ReadonlyArray<string> => [
  ...missing(before.headers, after.headers).map((name) => `header ${name} is gone`),
  ...missing(before.content, after.content).map((type) => `it is no ${type} any more`),
  ...missing(after.content, before.content).map((type) => `it may be ${type} now`),
  ...missing(after.errors ?? [], before.errors).map((type) => `its type may be ${type} now`),
  ...eachKept(before.fields ?? {}, after.fields ?? {}, "field ", brokenField)
]

const brokenField = (before: Field, after: Field): ReadonlyArray<string> => [
  ...(after.optional && !before.optional ? ["may be absent now"] : []),
  ...lost(after, before).map((what) => `may be ${what} now`)
]

const floors = [
  ["minimum", "less than"],
  ["minLength", "shorter than"],
  ["minItems", "of fewer items than"]
] as const
const ceilings = [
  ["maximum", "more than"],
  ["maxLength", "longer than"],
  ["maxItems", "of more items than"]
] as const

/** What the first takes and the second does not, in words. */
const lost = (wide: Value, narrow: Value): ReadonlyArray<string> => [
  ...wide.types.filter((type) => !takes(narrow.types, type)),
  ...lostValues(wide.values, narrow.values),
  ...(["format", "pattern"] as const).flatMap((name) =>
    narrow[name] === undefined || narrow[name] === wide[name] ? [] : [`of another ${name} than ${narrow[name]}`]
  ),
  ...floors.flatMap(([name, words]) => {
    const floor = narrow[name]
    return floor !== undefined && (wide[name] ?? Number.NEGATIVE_INFINITY) < floor ? [`${words} ${floor}`] : []
  }),
  ...ceilings.flatMap(([name, words]) => {
    const ceiling = narrow[name]
    return ceiling !== undefined && (wide[name] ?? Number.POSITIVE_INFINITY) > ceiling ? [`${words} ${ceiling}`] : []
  })
]

const takes = (types: ReadonlyArray<string>, type: string) =>
  types.includes(type) || (type === "integer" && types.includes("number"))

const lostValues = (wide: Value["values"], narrow: Value["values"]): ReadonlyArray<string> => {
  if (narrow === undefined) return []
  if (wide === undefined) return [`none of ${JSON.stringify(narrow)}`]
  return wide.filter((value) => !narrow.includes(value)).map((value) => JSON.stringify(value))
}
