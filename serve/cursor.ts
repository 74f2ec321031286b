/**
 * Cursors: where a page ended, bound to its endpoint, its id and its filters, and guarded against every changed character.
 * There is nothing secret in them, so a digest without a key is enough, and any server answers any other's cursor.
 */
import { createHash } from "node:crypto"
import { Option, Schema } from "effect"

/** Values of the columns that a page is ordered by, of its last row. */
const Position = Schema.Array(Schema.NullOr(Schema.String))
export type Position = typeof Position.Type
const decodePosition = Schema.decodeUnknownOption(Schema.fromJsonString(Position))

const digestBytes = 12

/** Grows when positions mean something else, so that old cursors are refused instead of misread. */
const version = 1

const digestOf = (scope: string, position: string) =>
  createHash("sha256").update(`${version}\n${scope}\n${position}`).digest().subarray(0, digestBytes)

/** What a cursor belongs to: endpoint, id in the path, and every filter but the page size. */
export const cursorScope = (endpoint: string, id: string | undefined, filters: Readonly<Record<string, unknown>>) =>
  JSON.stringify([endpoint, id ?? null, Object.entries(filters).filter(([, value]) => value !== undefined)])

export const encodeCursor = (scope: string, position: Position): string => {
  const text = JSON.stringify(position)
  return Buffer.concat([digestOf(scope, text), Buffer.from(text)]).toString("base64url")
}

/** Undefined for a cursor that is damaged, or that belongs elsewhere. */
export const decodeCursor = (scope: string, cursor: string): Position | undefined => {
  const bytes = Buffer.from(cursor, "base64url")
  // base64url has several spellings of the same bytes; only the one that was given out is taken.
  if (bytes.length <= digestBytes || bytes.toString("base64url") !== cursor) return undefined
  const text = bytes.subarray(digestBytes).toString("utf8")
  if (!digestOf(scope, text).equals(bytes.subarray(0, digestBytes))) return undefined
  return Option.getOrUndefined(decodePosition(text)) // the digest is no signature: anybody can make one
}
