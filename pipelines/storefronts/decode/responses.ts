/**
 * Parses the JSON responses of shops, and classifies responses that are something else. A shop that throttles, is
 * locked or is of another kind returns pages and errors, often with status 200.
 */
import { reasonOf } from "../../run/files/causes.ts"
import { FeedUnreadable } from "./feed-errors.ts"
import { findJsonStart, hasWords, isMarkup } from "./markup.ts"
import { normalizeText } from "./texts.ts"

/**
 * - `html`: a web page, such as a bot check, the page of a locked shop, or a page of another kind of shop
 * - `not json`: empty, cut off, or another format
 * - `window`: the shop shows no products beyond a limit, 25,000 with Shopify
 * - `other shape`: JSON of something else, or with an error in it
 * - `mistyped`: the expected content, with a field of another type
 */
type UnexpectedKind = "html" | "not json" | "window" | "other shape" | "mistyped"

export class UnexpectedResponse extends FeedUnreadable {
  readonly kind: UnexpectedKind
  constructor(kind: UnexpectedKind, problem: string) {
    super(problem)
    this.kind = kind
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The objects of a list, without all other values. */
export const pickObjects = (value: unknown): ReadonlyArray<JsonObject> =>
  Array.isArray(value) ? value.filter(isObject) : []

/** Real pages have a third of these values per 32 MB, the limit of a page. */
const maxValues = 1_000_000

/** Offset of the quote that ends the string which begins at `from`. */
const findStringEnd = (json: string, from: number) => {
  for (let index = json.indexOf('"', from + 1); index !== -1; index = json.indexOf('"', index + 1)) {
    let escapeStart = index
    while (json[escapeStart - 1] === "\\") escapeStart--
    if ((index - escapeStart) % 2 === 0) return index
  }
  return json.length
}

/** An object `{}` takes thirty times as much memory as its text: a page full of them would take 1 GB for seconds. */
const rejectDenseJson = (json: string) => {
  if (json.length <= maxValues) return
  let values = 0
  for (let index = 0; index < json.length; index++) {
    const character = json[index]
    if (character === '"') index = findStringEnd(json, index)
    else if (character === "," || character === "{" || character === "[") values++
  }
  if (values <= maxValues) return
  const problem = `the response has ${values.toLocaleString("en-US")} values, and a page has at most ${maxValues.toLocaleString("en-US")}`
  throw new UnexpectedResponse("other shape", problem)
}

/** Offset after the array or object at `from`; the end of the text if it is cut off. */
const findJsonEnd = (text: string, from: number): number => {
  let depth = 0
  for (let index = from; index < text.length; index++) {
    const character = text[index]
    if (character === '"') index = findStringEnd(text, index)
    else if (character === "{" || character === "[") depth++
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1
  }
  return text.length
}

type Parsed = { readonly json: unknown } | { readonly fault: string }

const parseJson = (json: string): Parsed => {
  rejectDenseJson(json)
  try {
    return { json: JSON.parse(json) }
  } catch (cause) {
    return { fault: reasonOf(cause).slice(0, 300) }
  }
}

const quoteBeginning = (text: string) => JSON.stringify(text.trim().slice(0, 100))

const isEmpty = (json: unknown) => typeof json === "object" && json !== null && Object.keys(json).length === 0

/** Reads the JSON in a response with markup, notices or comments before or after it; undefined if there is none. */
const parseInMarkup = (body: string): { readonly json: unknown } | undefined => {
  const start = /^[[{]/.test(body) ? 0 : findJsonStart(body)
  if (start === undefined) return undefined
  const end = findJsonEnd(body, start)
  const [before, rest] = [body.slice(0, start), body.slice(end)]
  if (before + rest === "" || !isMarkup(before)) return undefined
  const parsed = parseJson(body.slice(start, end))
  if ("fault" in parsed) {
    if (before === "") return undefined
    const problem = `the response has markup before its JSON, ${quoteBeginning(before)}, and the JSON is cut off or damaged: ${parsed.fault}`
    throw new UnexpectedResponse("not json", problem)
  }
  // an error in place of a page may end with an empty list, or have one in its text
  if (isEmpty(parsed.json) && (hasWords(before) || hasWords(rest))) {
    const problem = `the response has a message with an empty list, ${quoteBeginning(body)}: it may be an error`
    throw new UnexpectedResponse("not json", problem)
  }
  if (isMarkup(rest)) return parsed
  const problem = `the response has text after its JSON that is not markup: ${quoteBeginning(rest)}`
  throw new UnexpectedResponse("not json", problem)
}

/** The error for a response that begins with `<` and has no JSON. */
const explainMarkup = (body: string): UnexpectedResponse => {
  if (/^<(?:\?xml|rss|feed)\b/i.test(body) && !/<!doctype html|<html/i.test(body.slice(0, 1000))) {
    const problem = `the response is XML instead of JSON: it begins with ${quoteBeginning(body)}`
    return new UnexpectedResponse("not json", problem)
  }
  const title = normalizeText(/<title[^>]{0,200}>([^<]{1,200})/i.exec(body.slice(0, 20_000))?.[1])
  const problem = `the response is a web page${title === null ? "" : ` "${title}"`} instead of JSON`
  return new UnexpectedResponse("html", problem)
}

/** Fails with `UnexpectedResponse`. Markup around the JSON is skipped; a web page is not searched for JSON. */
export const parseResponse = (text: string): unknown => {
  const body = text.replaceAll("\0", " ").trim() // also removes byte order marks
  if (body === "") throw new UnexpectedResponse("not json", "the response is empty instead of JSON")
  const plain = body.startsWith("<") ? undefined : parseJson(body)
  if (plain !== undefined && "json" in plain) return plain.json
  const found = parseInMarkup(body)
  if (found !== undefined) return found.json
  if (plain === undefined) throw explainMarkup(body)
  throw new UnexpectedResponse("not json", `the response is not JSON, or is cut off: ${plain.fault}`)
}

/** Four times the largest page, which has 250 entries. */
const maxEntries = 1000

/** Fails with `UnexpectedResponse`: each of up to a million entries could be a reject. */
export const rejectLongList = (entries: ReadonlyArray<unknown>, kind: string) => {
  if (entries.length <= maxEntries) return
  const problem = `the response is a list of ${entries.length} ${kind}, and a page has at most ${maxEntries}`
  throw new UnexpectedResponse("other shape", problem)
}

/** The error for a response without the expected content. Shops state the reason in `errors`, `error` or `message`. */
export const explainUnexpected = (response: unknown, expected: string): UnexpectedResponse => {
  if (!isObject(response)) {
    return new UnexpectedResponse(
      "other shape",
      `the response has no ${expected}: it is ${formatJson(response).slice(0, 300)}`
    )
  }
  const reason = response.errors ?? response.error ?? response.message
  if (reason === undefined) {
    const keys = Object.keys(response).slice(0, 10).join(", ")
    return new UnexpectedResponse(
      "other shape",
      `the response has no ${expected}: ${keys === "" ? "it is empty" : `its keys are ${keys}`}`
    )
  }
  const message = formatJson(reason).slice(0, 300)
  const isWindow = /\blimit\b/i.test(message) && /\bpage\b|25,?000/i.test(message)
  return new UnexpectedResponse(isWindow ? "window" : "other shape", `the shop returns an error: ${message}`)
}

/** The value as JSON. Never throws, although `JSON.stringify` overflows the stack at a few thousand levels. */
export const formatJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "nothing"
  } catch (cause) {
    return `(cannot be shown: ${reasonOf(cause)})`
  }
}
