/**
 * The chain of a ledger in a file, for the anchor that its server maintains. A thread follows it in the background. The
 * head stays in memory, because an attacker who can write the file can also replace the head in it.
 */
import { Effect, type Option } from "effect"
import type { AnchorPlace } from "../chain/anchor.ts"
import type { Head } from "../chain/chain.ts"
import { type Chain, keepAnchor } from "../chain/keep-anchor.ts"
import { toLedgerUnavailable } from "../errors.ts"
import { advanceHead, countLinks, findChainProblem, readHead } from "./head.ts"
import type { LedgerFile } from "./ledger-file.ts"

const fileChain = ({ sqlite, thread }: LedgerFile["Service"], stored: Head): Chain => {
  /** The last head, and the number of commits when it was computed. */
  let followed: { readonly commits: number | undefined; readonly head: Head } = { commits: undefined, head: stored }
  return {
    compareWith: (anchor) =>
      Effect.try({
        try: () => {
          const problem = findChainProblem(sqlite, stored, anchor)
          const { entries, records } = countLinks(sqlite)
          return { problem, entries: entries - anchor.entries, records: records - anchor.records }
        },
        catch: toLedgerUnavailable("be compared with its anchor")
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
      catch: toLedgerUnavailable("follow its chain")
    }),
    advanceAtStop: Effect.try({
      try: () => advanceHead(sqlite, followed.head),
      catch: toLedgerUnavailable("follow its chain")
    })
  }
}

/** `open` opens the ledger. No anchor is written before the ledger is open. */
export const keepFileAnchor = <A, E, R>(
  file: LedgerFile["Service"],
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) =>
  Effect.try({ try: () => readHead(file.sqlite), catch: toLedgerUnavailable("be compared with its anchor") }).pipe(
    Effect.flatMap((stored) => keepAnchor(fileChain(file, stored), place, open))
  )
