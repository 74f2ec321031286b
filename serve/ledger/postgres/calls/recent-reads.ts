/**
 * What was read of each secret in the last second, by a lookup or by a group. A call may be admitted by it, and is decided
 * again when it is charged. It refuses no call: before that, the database is asked. Without it, a call would take three
 * round trips instead of two, and a server would serve a third fewer.
 */
import type { Read } from "./lookups.ts"

/** Milliseconds. */
const maxAge = 1_000

/** `now` is monotonic. */
export const rememberReads = (now: () => number) => {
  let newer = new Map<string, Read>()
  let older = newer
  let since = now()
  let clearedAt = Number.NEGATIVE_INFINITY
  return {
    get: (sha256: string): Read | undefined => {
      const read = newer.get(sha256) ?? older.get(sha256)
      return read !== undefined && now() - read.at < maxAge && read.at > clearedAt ? read : undefined
    },
    /** After a change through this server: what was asked before it does not count, even if it is answered later. */
    clear: (): void => {
      clearedAt = now()
    },
    /** The secret is unknown now, as that of a key that was revoked on another server. */
    forget: (sha256: string): void => {
      newer.delete(sha256)
      older.delete(sha256)
    },
    set: (sha256: string, read: Read): void => {
      if (now() - since > maxAge) {
        older = newer
        newer = new Map()
        since = now()
      }
      const known = newer.get(sha256)
      if (known === undefined || known.at <= read.at) newer.set(sha256, read)
    }
  }
}

export type RecentReads = ReturnType<typeof rememberReads>
