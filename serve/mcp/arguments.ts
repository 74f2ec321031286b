/** Converts a tool's arguments to what the API reads: the id of a path, and a query that the endpoint validates. */
import { type Invalid, invalid } from "@larder/schemas"
import type { Route } from "../api/index.ts"

/** A string or number as a string, with all digits: JavaScript would write large numbers as 1e+21. */
const toScalarString = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : String(value)
  return typeof value === "string" ? value : undefined
}

/** The value for a query, or the problem with a value that a query cannot contain. */
const toQueryValue = (
  name: string,
  value: unknown,
  isList: boolean
): { readonly text: string } | { readonly problem: string } => {
  const text = toScalarString(value)
  if (text !== undefined) return { text }
  if (!isList) return { problem: `${name} must be a string or a number` }
  const names = Array.isArray(value) ? value.map(toScalarString) : [undefined]
  if (names.includes(undefined)) return { problem: `${name} must be a list of names or a string` }
  const withComma = names.find((item) => item?.includes(",")) // joined with the others, it would become two names
  return withComma === undefined
    ? { text: names.join() }
    : { problem: `${name} has a name with a comma in it: "${withComma}"` }
}

/**
 * A list of names is joined with commas. A missing id, and a value that a query cannot contain, are rejected by the
 * `parse` of the returned route, so that the key and its scope are checked first. Unknown names are reported before these
 * problems, as for a query. An optional argument that is null counts as absent, because many models set unused arguments
 * to null.
 */
export const readArguments = (route: Route, given: Readonly<Record<string, unknown>>) => {
  const { parameters, record } = route.endpoint
  const query = new URLSearchParams()
  const problems: Array<Invalid> = []
  let id = ""
  for (const [name, value] of Object.entries(given)) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined
    if (value === null && parameter?.required === false) continue
    const converted = toQueryValue(name, value, parameter?.kind === "list")
    const text = "text" in converted ? converted.text : ""
    if (name === "id" && record !== undefined) id = text.toWellFormed()
    else query.append(name, text)
    if ("problem" in converted) problems.push(invalid("invalid_parameter", converted.problem))
  }
  if (record !== undefined && id === "")
    problems.push(invalid("missing_parameter", `id is required: the id of a ${record}`))
  const areNamesKnown = Object.keys(given).every((name) => name === "id" || Object.hasOwn(parameters, name))
  const problem = areNamesKnown ? problems[0] : undefined
  return { route: problem === undefined ? route : { ...route, parse: () => problem }, id, query }
}
