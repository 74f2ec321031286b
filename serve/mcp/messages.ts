/**
 * The JSON text of a message, judged before the protocol's library takes it apart: the library drops members named
 * `__proto__`, JSON.parse keeps the last of two equal names, and what is nested thousands of levels deep ends the library's
 * checks with an overflow. No call may be charged without an argument that was given, so such a text is no message.
 */

export type Judged =
  | { readonly message: unknown }
  /** The id is the message's own where it can be read, for an answer that its sender finds. */
  | { readonly problem: string; readonly id: string | number | null }

/** Levels of lists and objects. A call of a tool has four. */
const mostLevels = 64

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** In well-formed JSON: a string with the colon that makes it a name, a bracket, or a number. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")\s*(:?)|([[\]{}])|(-?\d[\d.eE+-]*)/g

const problemIn = (text: string): string | undefined => {
  /** Names of the objects around a place; undefined for a list. */
  const around: Array<Set<string> | undefined> = []
  for (const [, string = "", colon, bracket, number] of text.matchAll(tokens)) {
    if (bracket === "{" || bracket === "[") {
      around.push(bracket === "{" ? new Set() : undefined)
      if (around.length > mostLevels) return `it is nested more than ${mostLevels} levels deep`
    } else if (bracket !== undefined) around.pop()
    else if (number !== undefined && !Number.isFinite(Number(number))) return "a number in it is too large"
    else if (colon === ":") {
      const name: string = JSON.parse(string) // escapes spell equal names in many ways
      const names = around.at(-1)
      if (name === "__proto__") return "a member is named __proto__"
      if (names?.has(name)) return `Repeated member: ${name.slice(0, 100)}`
      names?.add(name)
    }
  }
  return undefined
}

const idOf = (message: unknown) => {
  const id = typeof message === "object" && message !== null && "id" in message ? message.id : null
  return typeof id === "string" || typeof id === "number" ? id : null
}

export const readMessage = (text: string): Judged => {
  const json = parsed(text)
  if (json === undefined) return { problem: "it is no JSON", id: null }
  const problem = problemIn(text)
  return problem === undefined ? { message: json.value } : { problem, id: idOf(json.value) }
}
