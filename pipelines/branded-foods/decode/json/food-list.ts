/** The frame around the foods of a JSON release: `{"BrandedFoods":[` and `]}`. A file without the end was truncated. */
import { Schema } from "effect"
import { isUtf16, utf16Problem } from "../utf16.ts"
import { knownKeys } from "./keys.ts"

export interface FoodReject {
  /** The line of the JSON file on which it begins, from 1. */
  readonly line: number
  /** The list of which it is an entry, if the record is used without it. */
  readonly part?: string
  readonly reason: string
  readonly payload: string
}

/** The file is not a list of branded foods, or not a complete one. */
export class FoodListUnusable extends Schema.TaggedError<FoodListUnusable>()("FoodListUnusable", {
  file: Schema.String,
  line: Schema.Int,
  problem: Schema.String,
  /** What to do instead of getting another file. */
  remedy: Schema.optional(Schema.String)
}) {
  override get message() {
    const remedy = this.remedy ?? "Download the release again, or give another one with --file."
    return `${this.file}, line ${this.line}: ${this.problem}. ${remedy}`
  }
}

const maxRejectLength = 2000

/** A character has at most four bytes. */
export const maxRejectBytes = 4 * maxRejectLength

/** The start of a record, or all of it without the comma after it. */
export const shortenPayload = (bytes: Buffer) => {
  const text = bytes.toString("utf8", 0, maxRejectBytes)
  return text.length > maxRejectLength ? text.slice(0, maxRejectLength) : text.replace(/[\s,]+$/, "")
}

const listKey = "BrandedFoods"

/** How to rewrite a file that another tool has saved; the filter of `jq` selects its foods. */
const rewrite = (filter: string) =>
  `Rewrite it: set -o pipefail; (echo '{"${listKey}": [' && jq -c '${filter}' FILE | sed '$!s/$/,/' && echo ']}') >rewritten/FILE`

interface OtherLayout {
  readonly problem: string
  readonly remedy: string
}

/** `jq` needs about five times the size of the file in memory. */
export const otherLayout: OtherLayout = {
  problem: "its records are not on one line each, as USDA publishes them",
  remedy: rewrite(`.${listKey}[]`)
}

export const maxHeadBytes = 65_536

const maxQuotedLength = 40

const quote = (text: string) =>
  JSON.stringify(text.length > maxQuotedLength ? `${text.slice(0, maxQuotedLength)}…` : text)

/** JSON lines, or a single food. */
const foodsAlone: OtherLayout = {
  problem: `it begins with a food, as JSON lines do, and not with {"${listKey}": [`,
  remedy: rewrite(".")
}
const listAlone: OtherLayout = {
  problem: `it is a list of foods without {"${listKey}": around it`,
  remedy: rewrite(".[]")
}

/** The length of the head in bytes; undefined if more bytes are needed; what is wrong if it is not a head. */
export const findHead = (start: Buffer, isAtEnd: boolean): number | string | OtherLayout | undefined => {
  if (isUtf16(start)) return utf16Problem
  const text = start.toString("latin1") // one character per byte: a BOM is three of them
  const head = /^(?:\xef\xbb\xbf)?\s*\{\s*"([^"\\]*)"\s*:\s*\[/.exec(text)
  if (head !== null && head[1] === listKey) return head[0].length
  const key = /^(?:\xef\xbb\xbf)?\s*\{\s*"([^"\\]*)"\s*:\s*\S/.exec(text)?.[1]
  if (key === listKey) return `"${listKey}" is not a list`
  if (key !== undefined && knownKeys.has(key)) return foodsAlone
  if (key !== undefined) return `it begins with ${quote(key)}, but a release of branded foods begins with "${listKey}"`
  const listed = /^(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"([^"\\]*)"\s*:/.exec(text)?.[1]
  if (listed !== undefined && knownKeys.has(listed)) return listAlone
  if (text.trim() === "" && isAtEnd) return "the file is empty"
  const mayBeHead = /^(?:\xef|\xef\xbb|(?:\xef\xbb\xbf)?\s*(\{\s*("[^"\\]*("\s*(:\s*)?)?)?)?)$/.test(text)
  if (!isAtEnd && text.length < (mayBeHead ? maxHeadBytes : maxQuotedLength)) return undefined
  return mayBeHead
    ? `it was cut off before its first record`
    : `it begins with ${quote(text)}, not with {"${listKey}": [`
}

/** The problem with the bytes after the `]` of the list; undefined if they end the file correctly. */
export const findTailProblem = (tail: string): string | undefined => {
  const rest = tail.trim()
  if (rest === "}") return undefined
  if (rest === "") return `it was cut off: the closing "}" is missing`
  const key = /^,\s*"([^"\\]*)"/.exec(rest)?.[1]
  return key === undefined ? `${quote(rest)} follows the list of foods` : `it has ${quote(key)} next to "${listKey}"`
}
