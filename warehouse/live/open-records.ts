/** `ingestion.duckdb`, as a server has it open. */
import { Effect, Exit, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isPresent, isUpTo, openIngestion } from "../ingestion/file.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import type { Shared } from "./shared.ts"

export interface OpenRecords extends Shared {
  readonly db: DuckDb["Service"]
  readonly inode: bigint
  /** Whether it has the records of the generation that is served with it. */
  isWhole: boolean
}

/**
 * Opens it for a generation. Whoever made that brings the file up to it; where that was cut off, it is done here, if it can be. A file
 * that is open already stays open: to close it a second time would give up its lock, and a run would write to it.
 */
export const openRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  before: OpenRecords | undefined
) {
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`what people open may be of an earlier generation: ${error.message}`))
  )
  const isWhole = yield* isUpTo(layout, number)
  if (before !== undefined && (yield* isPresent(layout, before.inode))) {
    before.isWhole = isWhole
    return before
  }
  const scope = yield* Scope.make()
  const opened = yield* openIngestion(layout).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  return { ...opened, isWhole, scope, users: 0 } satisfies OpenRecords as OpenRecords
})
