/** A tool's arguments as the API takes them: the id of a path, and a query whose grammar the endpoint judges. */
import type { Route } from "../route.ts"

/** Digits, also of numbers that JavaScript would write as 1e+21: a limit may be of any length. */
const textOfNumber = (value: number) => (Number.isInteger(value) ? BigInt(value).toString() : String(value))

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  return typeof value === "number" ? textOfNumber(value) : undefined
}

interface Asked {
  readonly route: Route
  readonly id: string
  readonly query: URLSearchParams
}

/**
 * What cannot stand in a query (a list, an object, true) and a missing id are refused where the endpoint refuses a bad
 * parameter: after the key and its scope are known. Unknown names come first, as they do in a query. Many models fill what
 * they do not need with null: an optional argument that is null is absent.
 */
export const askedOf = (route: Route, given: Readonly<Record<string, unknown>>): Asked => {
  const { parameters, record } = route.endpoint
  const query = new URLSearchParams()
  const wrong: Array<string> = []
  let id = ""
  for (const [name, value] of Object.entries(given)) {
    if (value === null && Object.hasOwn(parameters, name) && parameters[name]?.required === false) continue
    const text = textOf(value)
    if (name === "id" && record !== undefined) id = text?.toWellFormed() ?? ""
    else query.append(name, text ?? "")
    if (text === undefined) wrong.push(`${name} must be text or a number`)
  }
  if (record !== undefined && id === "") wrong.push(`id is required: the id of a ${record}`)
  const invalid = Object.keys(given).every((name) => name === "id" || Object.hasOwn(parameters, name))
    ? wrong[0]
    : undefined
  return { route: invalid === undefined ? route : { ...route, parse: () => ({ invalid }) }, id, query }
}
