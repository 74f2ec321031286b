/**
 * Parses the answers of shops to requests for JSON, and classifies the answers that are something else. A shop that
 * throttles, is locked or is of another kind answers with pages and errors, often with status 200.
 */
import { FeedUnreadable } from "./feed.ts"
import { tidied } from "./texts.ts"

/**
 * - `html`: a page, such as a bot check, the page of a locked shop, or that of another kind of shop
 * - `not json`: empty, cut off, or another format
 * - `window`: the shop shows no products beyond a limit, 25,000 with Shopify
 * - `other shape`: JSON of something else, or with an error in it
 * - `mistyped`: the expected answer, with a field of another type
 */
export type Misfit = "html" | "not json" | "window" | "other shape" | "mistyped"

export class UnexpectedAnswer extends FeedUnreadable {
  readonly kind: Misfit
  constructor(kind: Misfit, problem: string) {
    super(problem)
    this.kind = kind
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The objects of a list; all other values are left out. */
export const objectsOf = (value: unknown): ReadonlyArray<JsonObject> => listOf(value).filter(isObject)

const titleOf = (page: string) => tidied(/<title[^>]{0,200}>([^<]{1,200})/i.exec(page.slice(0, 20_000))?.[1])

/** Three times what a page of 32 MB would hold if it were like those of real shops. */
const mostValues = 1_000_000

const endOfText = (json: string, from: number) => {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at
    while (json[before - 1] === "\\") before--
    if ((at - before) % 2 === 0) return at
  }
  return json.length
}

/** An object of two characters takes thirty times as much memory: a page full of them would take 1 GB for seconds. */
const refuseDense = (json: string) => {
  if (json.length <= mostValues) return
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') at = endOfText(json, at)
    else if (character === "," || character === "{" || character === "[") values++
  }
  if (values <= mostValues) return
  const problem = `the answer holds ${values.toLocaleString("en-US")} values, and no page has more than ${mostValues.toLocaleString("en-US")}`
  throw new UnexpectedAnswer("other shape", problem)
}

/** Reads an answer as JSON. Fails with `UnexpectedAnswer`. */
export const parseAnswer = (text: string): unknown => {
  const body = text.replace(/^\uFEFF/, "").trimStart()
  if (body === "") throw new UnexpectedAnswer("not json", "the answer is empty where JSON was expected")
  if (body.startsWith("<")) {
    const title = titleOf(body)
    throw new UnexpectedAnswer("html", `a page ${title === null ? "" : `"${title}" `}came where JSON was expected`)
  }
  refuseDense(body)
  try {
    return JSON.parse(body)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new UnexpectedAnswer("not json", `the answer is not JSON, or is cut off: ${why.slice(0, 300)}`)
  }
}

const short = (value: unknown) => shownJson(value).slice(0, 300)

/** Four times the largest page, which has 250 entries. */
const mostEntries = 1000

/** Fails with `UnexpectedAnswer`: a payload of 32 MB has room for 16 million entries, and each would be a reject. */
export const refuseEndless = (entries: ReadonlyArray<unknown>, wanted: string) => {
  if (entries.length <= mostEntries) return
  const problem = `the answer is a list of ${entries.length} ${wanted}, and no page has more than ${mostEntries}`
  throw new UnexpectedAnswer("other shape", problem)
}

/** The error for an answer without the requested content. Shops state a reason in `errors`, `error` or `message`. */
export const misfit = (answer: unknown, wanted: string): UnexpectedAnswer => {
  if (!isObject(answer)) {
    return new UnexpectedAnswer("other shape", `the answer has no ${wanted}: it is ${short(answer)}`)
  }
  const stated = answer.errors ?? answer.error ?? answer.message
  if (stated === undefined) {
    const keys = Object.keys(answer).slice(0, 10).join(", ")
    return new UnexpectedAnswer("other shape", `the answer has no ${wanted}, but ${keys === "" ? "nothing" : keys}`)
  }
  const isWindow = /\blimit\b/i.test(short(stated)) && /\bpage\b|25,?000/i.test(short(stated))
  return new UnexpectedAnswer(isWindow ? "window" : "other shape", `the shop answers with an error: ${short(stated)}`)
}

/** A value of an answer as JSON. Never throws: `JSON.stringify` overflows the stack some thousand levels down. */
export const shownJson = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? "nothing"
  } catch (cause) {
    return `(cannot be shown: ${cause instanceof Error ? cause.message : String(cause)})`
  }
}
