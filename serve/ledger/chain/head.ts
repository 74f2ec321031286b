/** The head of the chain of the whole ledger: how far it has been followed, and the hash there. See `linkedTo`. */
import type { Verification } from "../administration.ts"

export interface Head {
  /** Number of entries that it includes. */
  readonly entries: number
  /** Number of records that it includes. */
  readonly records: number
  readonly hash: string
}

/** Before the first link. */
export const noHead: Head = { entries: 0, records: 0, hash: "" }

export const isAt = (head: Head, { entries, records }: Head): boolean =>
  head.entries === entries && head.records === records

export const isSame = (one: Head, other: Head): boolean => isAt(one, other) && one.hash === other.hash

/**
 * For a verification, which follows the chain from its beginning: the chain must pass through the stored head, and
 * through the anchor if there is one. `tell` receives each problem.
 */
export const chainCheck = (kept: Head, anchor: Head | undefined, tell: (problem: string) => void) => {
  const missing = new Map<string, Head>()
  if (kept.entries + kept.records > 0) missing.set("was followed to", kept)
  if (anchor !== undefined) missing.set("was anchored at", anchor)
  return {
    /** Called for each head on the way. */
    seen: (head: Head): void => {
      for (const [what, expected] of missing) {
        if (!isAt(head, expected)) continue
        missing.delete(what)
        if (head.hash === expected.hash) continue
        tell(`the chain ${what} entry ${head.entries} and record ${head.records}, and is another one there`)
      }
    },
    /** Returns how many links are newer than the anchor. */
    end: (end: Head): Pick<Verification, "younger_than_anchor"> => {
      for (const [what, { entries, records }] of missing) {
        tell(
          `the chain ${what} entry ${entries} and record ${records}, and ends at entry ${end.entries} and record ${end.records}`
        )
      }
      if (anchor === undefined) return {}
      return {
        younger_than_anchor: {
          entries: Math.max(0, end.entries - anchor.entries),
          records: Math.max(0, end.records - anchor.records)
        }
      }
    }
  }
}
