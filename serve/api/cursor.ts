/**
 * A cursor holds the position where a page ended. It is bound to its endpoint, path id and filters, and a digest
 * detects every changed character. Cursors contain no secret, so the digest needs no key, and every server accepts the
 * cursors of the others.
 */
import { createHash } from "node:crypto"
import { Option, Schema } from "effect"

/** Values of the ordering columns in the last row of a page. */
const Position = Schema.Array(Schema.NullOr(Schema.String))
export type Position = typeof Position.Type
const decodePosition = Schema.decodeUnknownOption(Schema.fromJsonString(Position))

const digestBytes = 12

/** Incremented when the meaning of positions changes, so that old cursors are refused instead of misread. */
const version = 1

const digestOf = (scope: string, position: string) =>
  createHash("sha256").update(`${version}\n${scope}\n${position}`).digest().subarray(0, digestBytes)

/** The scope of a cursor: endpoint, id in the path, and every filter except the page size. */
export const cursorScope = (endpoint: string, id: string | undefined, filters: Readonly<Record<string, unknown>>) =>
  JSON.stringify([endpoint, id ?? null, Object.entries(filters).filter(([, value]) => value !== undefined)])

export const encodeCursor = (scope: string, position: Position): string => {
  const text = JSON.stringify(position)
  return Buffer.concat([digestOf(scope, text), Buffer.from(text)]).toString("base64url")
}

/** Undefined for a cursor that is damaged, or that belongs to another scope. */
export const decodeCursor = (scope: string, cursor: string): Position | undefined => {
  const bytes = Buffer.from(cursor, "base64url")
  // base64url can encode the same bytes in several ways; only the form that was issued is accepted.
  if (bytes.length <= digestBytes || bytes.toString("base64url") !== cursor) return undefined
  const text = bytes.subarray(digestBytes).toString("utf8")
  if (!digestOf(scope, text).equals(bytes.subarray(0, digestBytes))) return undefined
  return Option.getOrUndefined(decodePosition(text)) // the digest is not a signature: any client can compute one
}
