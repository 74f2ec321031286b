/**
 * Parses the store list, the operator's JSON file of the stores to read. All its faults are reported with their
 * positions before anything is fetched. It must not contain secrets, because addresses are archived and logged.
 */
import { storeKinds, suggestName } from "@larder/schemas"
import { Effect, Result, Schema, SchemaIssue } from "effect"
import { reasonOf } from "../../run/files/causes.ts"
import { findEncoding } from "../decode/payload-text.ts"

/** Lower case, without scheme, port or path. Ids derive from it, so it identifies the store permanently. */
const Domain = Schema.String.check(
  Schema.isPattern(/^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/, {
    expected: "a host name in lower case, such as shop.example.com"
  })
)

/**
 * Whether the address contains a user name. URL parsers ignore line breaks and tabs, and accept any number of `/` or
 * `\\`.
 */
const hasUser = (location: string) => /^\s*[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*@/i.test(location.replace(/[\t\r\n]/g, ""))

const Location = Schema.String.check(
  Schema.isPattern(/\S/, { expected: "an address or a path" }),
  Schema.makeFilter((location) => !hasUser(location) || "it must not name a user or a password")
)

const EncodingLabel = Schema.String.check(
  Schema.makeFilter(
    (label) => findEncoding(label) !== undefined || "expected the name of an encoding, such as windows-1251 or utf-16le"
  )
)

export const ListedStore = Schema.Struct({
  domain: Domain,
  name: Schema.String.check(Schema.isPattern(/\S/, { expected: "a name" })),
  kind: Schema.Literals(storeKinds),
  /** Address of the feed, base address of a shop, or a path relative to the list or the folder of store files. */
  location: Location,
  currency: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { expected: "an ISO 4217 code, such as USD" }))
  ),
  country: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/, { expected: "an ISO 3166-1 alpha-2 code, such as US" }))
  ),
  language: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, { expected: "a BCP 47 tag, such as en" }))
  ),
  /** For a feed that states none, or a wrong one. */
  encoding: Schema.optionalKey(EncodingLabel)
})
export type ListedStore = typeof ListedStore.Type

const decode = Schema.decodeUnknownResult(ListedStore, { errors: "all", onExcessProperty: "error" })

export class StoreListUnusable extends Schema.TaggedError<StoreListUnusable>()("StoreListUnusable", {
  file: Schema.String,
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    const list = `The store list ${this.file} cannot be used`
    const [first, ...others] = this.problems
    return others.length === 0 ? `${list}. ${first}.` : [`${list}:`, ...this.problems].join("\n  ")
  }
}

/** In characters. One run could not read more stores, so a longer list is a mistake. */
export const maxListLength = 64 << 20

/** Messages name fields and never quote their values. */
const toOneLine = (text: string) => text.replace(/\s*\n\s*/g, " ").slice(0, 300)

const fields = Object.keys(ListedStore.fields)
const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const describeFault = (field: string, message: string) => {
  if (!fields.includes(field)) {
    const suggestion = suggestName(field, fields)
    return `there is no such field${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`
  }
  return message === "Missing key" ? "it is missing" : message.replace(/^Expected/, "expected")
}

const describeProblems = ({ issue }: Schema.SchemaError, number: number) =>
  formatIssue(issue).issues.map(({ message, path = [] }) => {
    const [field] = path.map(String)
    return field === undefined
      ? `Store ${number} is not a JSON object`
      : `Store ${number}, ${toOneLine(field).slice(0, 60)}: ${describeFault(field, toOneLine(message))}`
  })

const isBeginning = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : ""
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return position === undefined ? /end of JSON/.test(message) : Number(position) >= text.length
  }
}

/**
 * The position where a string stops being valid JSON, counted from 1: `line 2 column 15`. In truncated JSON it is after
 * the last character. The errors of `JSON.parse` contain the position of some faults only.
 */
export const locateFault = (text: string): string => {
  let validLength = 0
  let invalidLength = text.length + 1
  while (invalidLength - validLength > 1) {
    const middle = (validLength + invalidLength) >> 1
    if (isBeginning(text.slice(0, middle))) validLength = middle
    else invalidLength = middle
  }
  const before = text.slice(0, validLength).split("\n")
  return `line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1}`
}

const maxProblems = 20

/** The stores of a list, in its order. All faults are reported together. */
export const parseStoreList = Effect.fnUntraced(function* (file: string, text: string) {
  const unusable = (...problems: ReadonlyArray<string>) => new StoreListUnusable({ file, problems })
  if (text.length > maxListLength) return yield* unusable("It is longer than 64 MB")
  const json = text.replace(/^\uFEFF/, "")
  const list = yield* Effect.try({
    try: (): unknown => JSON.parse(json),
    catch: (cause) => {
      const message = reasonOf(cause)
      const position = / \(line \d+ column \d+\)$/.test(message) ? "" : ` (${locateFault(json)})`
      return unusable(`It is not valid JSON: ${toOneLine(message)}${position}`)
    }
  })
  if (!Array.isArray(list)) return yield* unusable("It is not a JSON array of stores")
  const decoded = list.map((entry: unknown) => decode(entry))
  const problems = decoded.flatMap((result, index) =>
    Result.isFailure(result) ? describeProblems(result.failure, index + 1) : []
  )
  const stores = decoded.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
  const domains = new Set<string>()
  for (const { domain } of stores) {
    if (domains.has(domain)) problems.push(`${domain} is listed twice: a store has one feed`)
    domains.add(domain)
  }
  if (problems.length > maxProblems) problems.splice(maxProblems, Infinity, `and ${problems.length - maxProblems} more`)
  if (problems.length > 0) return yield* unusable(...problems)
  if (stores.length === 0) return yield* unusable("It lists no store")
  return stores
})
