/** Kills pruning at each of its file system calls. */
import { assert, describe } from "@effect/vitest"
import { pruneArchive } from "@larder/pipelines/run/archive/prune.ts"
import { Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import {
  archiveWithFailures,
  expectRebuildable,
  listsOf,
  makeRunsOld,
  neededPayloads,
  payloadsOf,
  pruneUntilKilled
} from "../support/pipelines/shop-archive.ts"

const withFailures = archiveWithFailures()
const methods = [
  "makeDirectory",
  "open",
  "readDirectory",
  "readFileString",
  "remove",
  "rename",
  "stat",
  "exists",
  "writeFileString"
]

describe("a pruning that is killed", () => {
  itLive("loses nothing that is needed, at any file system call, and the next one completes it", () =>
    Effect.gen(function* () {
      for (let nth = 1, signal: string | null = "SIGKILL"; signal !== null; nth++) {
        const layout = yield* withFailures
        makeRunsOld(layout)
        const ended = pruneUntilKilled(layout, { methods, pattern: "/raw", nth })
        signal = ended.signal
        if (signal === null) assert.strictEqual(ended.status, 0, ended.stderr)
        assert.isTrue(signal === null || signal === "SIGKILL")
        yield* expectRebuildable(layout)
        yield* pruneArchive(layout, { keep: { runs: 0 }, dryRun: false })
        assert.deepStrictEqual(payloadsOf(layout), neededPayloads, `killed at call ${nth}`)
        assert.lengthOf(listsOf(layout), 3)
        if (signal === null) assert.isAbove(nth, 20)
      }
    })
  )
})
