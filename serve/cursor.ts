/**
 * Cursors: where a page ended, bound to its endpoint, its id and its filters, and guarded against every changed character.
 * There is nothing secret in them, so a digest is enough; it needs no key, and any server answers any other's cursor.
 */
import { createHash } from "node:crypto"

/** Values of the columns that a page is ordered by, of its last row. */
export type Position = ReadonlyArray<string | null>

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
  return digestOf(scope, text).equals(bytes.subarray(0, digestBytes)) ? (JSON.parse(text) as Position) : undefined
}
