/**
 * Parses the JSON responses of shops, and classifies responses that are something else. A shop that throttles, is
 * locked or is of another kind returns pages and errors, often with status 200.
 */
import { reasonOf } from "../../run/files/causes.ts"
import { FeedUnreadable } from "./feed.ts"
import { normalizeText } from "./texts.ts"

/**
 * - `html`: a web page, such as a bot check, the page of a locked shop, or a page of another kind of shop
 * - `not json`: empty, cut off, or another format
 * - `window`: the shop shows no products beyond a limit, 25,000 with Shopify
 * - `other shape`: JSON of something else, or with an error in it
 * - `mistyped`: the expected answer, with a field of another type
 */
type MisfitKind = "html" | "not json" | "window" | "other shape" | "mistyped"

export class UnexpectedAnswer extends FeedUnreadable {
  readonly kind: MisfitKind
  constructor(kind: MisfitKind, problem: string) {
    super(problem)
    this.kind = kind
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The objects of a list; all other values are left out. */
export const pickObjects = (value: unknown): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isObject) : []

/** Three times as many as a page of 32 MB would have if it were like the pages of real shops. */
const maxValues = 1_000_000

const findTextEnd = (json: string, from: number) => {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at
    while (json[before - 1] === "\\") before--
    if ((at - before) % 2 === 0) return at
  }
  return json.length
}

/** An object of two characters takes thirty times as much memory: a page full of them would take 1 GB for seconds. */
const rejectDenseJson = (json: string) => {
  if (json.length <= maxValues) return
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') at = findTextEnd(json, at)
    else if (character === "," || character === "{" || character === "[") values++
  }
  if (values <= maxValues) return
  const problem = `the response has ${values.toLocaleString("en-US")} values, and a page has at most ${maxValues.toLocaleString("en-US")}`
  throw new UnexpectedAnswer("other shape", problem)
}

export const parseAnswer = (text: string): unknown => {
  const body = text.replace(/^\uFEFF/, "").trimStart()
  if (body === "") throw new UnexpectedAnswer("not json", "the response is empty instead of JSON")
  if (body.startsWith("<")) {
    const title = normalizeText(/<title[^>]{0,200}>([^<]{1,200})/i.exec(body.slice(0, 20_000))?.[1])
    throw new UnexpectedAnswer(
      "html",
      `the response is a web page${title === null ? "" : ` "${title}"`} instead of JSON`
    )
  }
  rejectDenseJson(body)
  try {
    return JSON.parse(body)
  } catch (cause) {
    const why = reasonOf(cause)
    throw new UnexpectedAnswer("not json", `the response is not JSON, or is cut off: ${why.slice(0, 300)}`)
  }
}

/** Four times the largest page, which has 250 entries. */
const maxEntries = 1000

/** Fails with `UnexpectedAnswer`: a payload of 32 MB has room for 16 million entries, and each would be a reject. */
export const rejectLongList = (entries: ReadonlyArray<unknown>, wanted: string) => {
  if (entries.length <= maxEntries) return
  const problem = `the response is a list of ${entries.length} ${wanted}, and a page has at most ${maxEntries}`
  throw new UnexpectedAnswer("other shape", problem)
}

/** The error for a response without the requested content. Shops give the reason in `errors`, `error` or `message`. */
export const explainMisfit = (answer: unknown, wanted: string): UnexpectedAnswer => {
  if (!isObject(answer)) {
    return new UnexpectedAnswer(
      "other shape",
      `the response has no ${wanted}: it is ${formatJson(answer).slice(0, 300)}`
    )
  }
  const reason = answer.errors ?? answer.error ?? answer.message
  if (reason === undefined) {
    const keys = Object.keys(answer).slice(0, 10).join(", ")
    return new UnexpectedAnswer("other shape", `the response has no ${wanted}, but ${keys === "" ? "nothing" : keys}`)
  }
  const message = formatJson(reason).slice(0, 300)
  const isWindow = /\blimit\b/i.test(message) && /\bpage\b|25,?000/i.test(message)
  return new UnexpectedAnswer(isWindow ? "window" : "other shape", `the shop returns an error: ${message}`)
}

/** The value as JSON. Never throws: `JSON.stringify` overflows the stack some thousand levels down. */
export const formatJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "nothing"
  } catch (cause) {
    return `(cannot be shown: ${reasonOf(cause)})`
  }
}
