/**
 * The chain of a ledger in a file, for the anchor that its server keeps. A thread follows it in the background. Where it has
 * arrived is kept in memory: an attacker who can write the file can also replace the head in it.
 */
import { Effect, type Option } from "effect"
import type { AnchorPlace } from "../anchor.ts"
import { unavailable } from "../errors.ts"
import type { Head } from "../head.ts"
import { type Chain, keepAnchorOf } from "../keep-anchor.ts"
import { advanceHead, chainProblem, endIn, headIn } from "./head.ts"
import type { LedgerFile } from "./ledger-file.ts"

const chainIn = ({ sqlite, thread }: LedgerFile["Service"], kept: Head): Chain => {
  /** Where the chain has arrived, and after how many commits. */
  let followed: { readonly commits: number | undefined; readonly head: Head } = { commits: undefined, head: kept }
  return {
    holdTo: (anchor) =>
      Effect.try({
        try: () => {
          const problem = chainProblem(sqlite, kept, anchor)
          if (problem !== undefined) return { problem }
          const { entries, records } = endIn(sqlite)
          return { problem, entries: entries - anchor.entries, records: records - anchor.records }
        },
        catch: unavailable("be held to its anchor")
      }),
    advance: Effect.tryPromise({
      try: async () => {
        const commits = sqlite.commits()
        if (followed.commits !== commits) {
          const head = await thread.run(new URL("./head.ts", import.meta.url).href, advanceHead, followed.head)
          followed = { commits, head }
        }
        return followed.head
      },
      catch: unavailable("follow its chain")
    }),
    end: Effect.try({ try: () => advanceHead(sqlite, followed.head), catch: unavailable("follow its chain") })
  }
}

/** `open` opens the ledger, which is not anchored before it is open. */
export const keepAnchor = <A, E, R>(
  file: LedgerFile["Service"],
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) =>
  Effect.try({ try: () => headIn(file.sqlite), catch: unavailable("be held to its anchor") }).pipe(
    Effect.flatMap((kept) => keepAnchorOf(chainIn(file, kept), place, open))
  )
