/** Converts a tool's arguments to what the API reads: the id of a path, and a query that the endpoint validates. */
import { type Invalid, invalid, type Parameters } from "@larder/schemas"
import type { Route } from "../api/index.ts"
import { parseJson } from "./messages.ts"

/** A string or number as a string, with all digits: JavaScript would write large numbers as 1e+21. */
const toScalarString = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : String(value)
  return typeof value === "string" ? value : undefined
}

/**
 * Some clients send a value as JSON text if the schema allows more than one type, and some encode it twice: a list, a text
 * with quotes, or a list whose only element is such a text.
 */
const readJsonText = (value: unknown): unknown => {
  if (Array.isArray(value) && value.length === 1 && typeof value[0] === "string") {
    const element = readJsonText(value[0])
    return Array.isArray(element) ? element : value
  }
  const json = typeof value === "string" && /^\s*["[]/.test(value) ? parseJson(value)?.value : undefined
  return Array.isArray(json) || typeof json === "string" ? readJsonText(json) : value
}

/** A list of names as text with commas, without the blanks around the names. Most texts have none. */
const trimNames = (text: string) =>
  /\s/.test(text)
    ? text
        .split(",")
        .map((name) => name.trim())
        .join()
    : text

/** The value for a query, or the problem with a value that a query cannot contain. */
const toQueryValue = (
  name: string,
  value: unknown,
  isList: boolean
): { readonly text: string } | { readonly problem: string } => {
  const given = isList ? readJsonText(value) : value
  const text = toScalarString(given)
  if (text !== undefined) return { text: isList ? trimNames(text) : text }
  if (!isList) return { problem: `${name} must be a string or a number` }
  const names = Array.isArray(given) ? given.map((item) => toScalarString(item)?.trim()) : [undefined]
  if (names.includes(undefined)) return { problem: `${name} must be a list of names or a string` }
  const withComma = names.find((item) => item?.includes(",")) // joined with the others, it would become two names
  return withComma === undefined
    ? { text: names.join() }
    : { problem: `${name} has a name with a comma in it: "${withComma}"` }
}

/** Names that clients add to the arguments by themselves: a suggestion would make the model guess at its own arguments. */
const clientNames = /^(_.*|progress_?token|(tool_?call|session|request)_?id)$/i
const explainClientName = (name: string): Invalid | undefined =>
  clientNames.test(name)
    ? invalid(
        "unknown_parameter",
        `Unknown argument: ${name}. The tool has no such argument; your client has added it.`
      )
    : undefined

/** Models set unused arguments to null, which some clients send as text. In a text filter, `null` can be a word to search for. */
const isAbsent = (value: unknown, parameter: Parameters[string] | undefined) =>
  parameter?.required === false && (value === null || (value === "null" && parameter.kind !== "text"))

/**
 * A list of names is joined with commas. A missing id, and a value that a query cannot contain, are rejected by the
 * `parse` of the returned route, so that the key and its scope are checked first. Unknown names are reported before these
 * problems, as for a query. An optional argument that is null counts as absent.
 */
export const readArguments = (route: Route, given: Readonly<Record<string, unknown>>) => {
  const { parameters, record } = route.endpoint
  const query = new URLSearchParams()
  const problems: Array<Invalid> = []
  let id = ""
  for (const [name, value] of Object.entries(given)) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (isAbsent(value, parameter)) continue
    const converted = toQueryValue(name, value, parameter?.kind === "list")
    const text = "text" in converted ? converted.text : ""
    if (name === "id" && record !== undefined) id = text.toWellFormed()
    else query.append(name, text)
    if ("problem" in converted) problems.push(invalid("invalid_parameter", converted.problem))
  }
  if (record !== undefined && id === "")
    problems.push(invalid("missing_parameter", `id is required: the id of a ${record}`))
  const unknown = Object.keys(given).find((name) => name !== "id" && !Object.hasOwn(parameters, name))
  const problem = unknown === undefined ? problems[0] : explainClientName(unknown)
  return { route: problem === undefined ? route : { ...route, parse: () => problem }, id, query }
}
