/**
 * Checks the JSON text of a message before the protocol library parses it. The library drops members named `__proto__`,
 * JSON.parse keeps only the last of two equal names, and nesting of thousands of levels overflows the stack in the
 * library's checks. A call must not be charged if an argument of the client was lost, so such a message is rejected.
 */

type ReadMessage =
  | { readonly message: unknown }
  /** `id` is the message's own id if it can be read, so that the sender can match the response. */
  | { readonly problem: string; readonly id: string | number | null }

/** Levels of lists and objects. A tool call has four. */
const maxLevels = 64

/** Undefined if the text is not JSON. */
export const parseJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Tokens of well-formed JSON: a string, with the colon that makes it a name; a bracket; a number. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|([[\]{}])|(-?\d[\d.eE+-]*)/g

const findProblem = (text: string): string | undefined => {
  /** The names so far in each enclosing object; undefined for a list. */
  const enclosing: Array<Set<string> | undefined> = []
  for (const [, string = "", colon, bracket, number] of text.matchAll(tokens)) {
    if (bracket === "{" || bracket === "[") {
      enclosing.push(bracket === "{" ? new Set() : undefined)
      if (enclosing.length > maxLevels) return `it is nested more than ${maxLevels} levels deep`
    } else if (bracket !== undefined) enclosing.pop()
    else if (number !== undefined && !Number.isFinite(Number(number))) return "a number in it is too large"
    else if (colon === ":") {
      const name: string = JSON.parse(string) // the same name can be written with different escapes
      const names = enclosing.at(-1)
      if (name === "__proto__") return "a member is named __proto__"
      if (names?.has(name)) return `Repeated member: ${name.slice(0, 100)}`
      names?.add(name)
    }
  }
  return undefined
}

const readId = (message: unknown) => {
  const id = typeof message === "object" && message !== null && "id" in message ? message.id : null
  return typeof id === "string" || typeof id === "number" ? id : null
}

export const readMessage = (text: string): ReadMessage => {
  const json = parseJson(text)
  if (json === undefined) return { problem: "it is not JSON", id: null }
  const problem = findProblem(text)
  return problem === undefined ? { message: json.value } : { problem, id: readId(json.value) }
}
