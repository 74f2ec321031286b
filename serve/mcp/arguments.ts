/** Converts a tool's arguments to what the API takes: the id of a path, and a query that the endpoint validates. */
import { type Invalid, invalid } from "@larder/schemas"
import type { Route } from "../api/index.ts"

/** All digits, also of numbers that JavaScript would write as 1e+21: a limit may have any length. */
const textOfNumber = (value: number) => (Number.isInteger(value) ? BigInt(value).toString() : String(value))

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  return typeof value === "number" ? textOfNumber(value) : undefined
}

/** The value as text of a query, or the problem with a value that a query cannot hold. */
const inQuery = (
  name: string,
  value: unknown,
  isList: boolean
): { readonly text: string } | { readonly wrong: string } => {
  const text = textOf(value)
  if (text !== undefined) return { text }
  if (!isList) return { wrong: `${name} must be text or a number` }
  const names = Array.isArray(value) ? value.map(textOf) : [undefined]
  if (names.includes(undefined)) return { wrong: `${name} must be a list of names, or text` }
  const two = names.find((each) => each?.includes(",")) // joined with the others, it would become two names
  return two === undefined ? { text: names.join() } : { wrong: `${name} has a name with a comma in it: "${two}"` }
}

interface Asked {
  readonly route: Route
  readonly id: string
  readonly query: URLSearchParams
}

/**
 * A list of names becomes text with commas. A value that a query cannot hold (another list, an object, true) and a
 * missing id are refused where the endpoint refuses a bad parameter: after the key and its scope are checked. Unknown
 * names are reported first, as they are for a query. Many models set arguments that they do not need to null: an
 * optional argument that is null counts as absent.
 */
export const readArguments = (route: Route, given: Readonly<Record<string, unknown>>): Asked => {
  const { parameters, record } = route.endpoint
  const query = new URLSearchParams()
  const wrong: Array<Invalid> = []
  let id = ""
  for (const [name, value] of Object.entries(given)) {
    if (value === null && Object.hasOwn(parameters, name) && parameters[name]?.required === false) continue
    const isList = Object.hasOwn(parameters, name) && parameters[name]?.kind === "list"
    const read = inQuery(name, value, isList)
    const text = "text" in read ? read.text : ""
    if (name === "id" && record !== undefined) id = text.toWellFormed()
    else query.append(name, text)
    if ("wrong" in read) wrong.push(invalid("invalid_parameter", read.wrong))
  }
  if (record !== undefined && id === "")
    wrong.push(invalid("missing_parameter", `id is required: the id of a ${record}`))
  const problem = Object.keys(given).every((name) => name === "id" || Object.hasOwn(parameters, name))
    ? wrong[0]
    : undefined
  return { route: problem === undefined ? route : { ...route, parse: () => problem }, id, query }
}
