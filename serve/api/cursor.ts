/** A cursor encodes where a page ended, for one endpoint, id and filters. The digest needs no key, so all servers accept a cursor. */
import { createHash } from "node:crypto"
import { Option } from "effect"

/** The values of the last row in the columns that order the page. */
export type CursorPosition = ReadonlyArray<string | null>
/** Checks a position, because any client can compute the digest of another one. */
export type DecodePosition<C> = (json: string) => Option.Option<C>

const digestBytes = 12

/** Increment it when the meaning of positions changes, so that old cursors are refused instead of misread. */
const version = 1

const computeDigest = (scope: string, position: string) =>
  createHash("sha256").update(`${version}\n${scope}\n${position}`).digest().subarray(0, digestBytes)

/** The scope of a cursor: endpoint, id in the path, and every filter except the page size. */
export const cursorScope = (endpoint: string, id: string | undefined, filters: Readonly<Record<string, unknown>>) =>
  JSON.stringify([endpoint, id ?? null, Object.entries(filters).filter(([, value]) => value !== undefined)])

export const encodeCursor = (scope: string, position: CursorPosition): string => {
  const json = JSON.stringify(position)
  return Buffer.concat([computeDigest(scope, json), Buffer.from(json)]).toString("base64url")
}

/** Undefined for a cursor that is damaged or belongs to another scope. */
export const decodeCursor = <C>(scope: string, cursor: string, decodePosition: DecodePosition<C>): C | undefined => {
  const bytes = Buffer.from(cursor, "base64url")
  // several base64url strings can encode the same bytes; only the one that was issued is accepted
  if (bytes.length <= digestBytes || bytes.toString("base64url") !== cursor) return undefined
  const json = bytes.subarray(digestBytes).toString("utf8")
  if (!computeDigest(scope, json).equals(bytes.subarray(0, digestBytes))) return undefined
  return Option.getOrUndefined(decodePosition(json))
}
