/** The chain of a ledger in a file, for the anchor that its server keeps. A thread follows it while calls go on. */
import { Effect, type Option } from "effect"
import type { AnchorPlace } from "../anchor.ts"
import { unavailable } from "../errors.ts"
import type { Head } from "../head.ts"
import { type Chain, keepAnchorOf } from "../keep-anchor.ts"
import { numberIn } from "./columns.ts"
import { advanceHead, chainProblem } from "./head.ts"
import type { LedgerFile } from "./ledger-file.ts"

const end = `
  select (select coalesce(max(sequence), 0) from ledger.entry) as entries,
    (select coalesce(max(number), 0) from ledger.record) as records`

const chainIn = ({ sqlite, thread }: LedgerFile["Service"]): Chain => {
  /** Where the chain has arrived after so many commits. */
  let followed: { readonly commits: number; readonly head: Head } | undefined
  return {
    holdTo: (anchor) =>
      Effect.try({
        try: () => {
          const problem = chainProblem(sqlite, anchor)
          if (problem !== undefined) return { problem }
          const [found] = sqlite.all(end)
          return {
            problem,
            entries: numberIn(found, "entries") - anchor.entries,
            records: numberIn(found, "records") - anchor.records
          }
        },
        catch: unavailable("be held to its anchor")
      }),
    advance: Effect.tryPromise({
      try: async () => {
        const commits = sqlite.commits()
        if (followed?.commits !== commits) {
          followed = { commits, head: await thread.run(new URL("./head.ts", import.meta.url).href, advanceHead) }
        }
        return followed.head
      },
      catch: unavailable("follow its chain")
    }),
    end: Effect.try({ try: () => advanceHead(sqlite), catch: unavailable("follow its chain") })
  }
}

export const keepAnchor = (file: LedgerFile["Service"], place: Option.Option<AnchorPlace>) =>
  keepAnchorOf(chainIn(file), place)
