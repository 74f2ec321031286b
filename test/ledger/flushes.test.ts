/** A charge is on disk before its caller gets a response, so each group is flushed, but only once, because callers wait for it. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { openLedgerFile } from "@larder/serve/ledger"
import { Effect } from "effect"
import { temporaryFolder } from "../support/serve/sample-ledger.ts"

const groups = 200
/** At opening: the file, its journal, its folder and the tables. At closing: the log, and the file that it is copied into. */
const maxOtherFlushes = 20
/** Each second, a thread may copy the log into the file, and the next group resets the log. */
const maxPerSecond = 3

/** Some containers have strace and forbid it. */
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0
const limitation = canTrace ? "" : " (only the setting is checked: strace is missing)"

/** Names of the files that a program flushes, in order. */
const traceFlushes = (folder: string, program: ReadonlyArray<string>) => {
  const trace = path.join(folder, "trace")
  const traceArguments = ["-f", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, process.execPath, ...program]
  const { status, stderr } = spawnSync("strace", traceArguments, { encoding: "utf8" })
  assert.strictEqual(status, 0, stderr)
  // if another thread interrupts a call, only its first line names the file
  const flushes = readFileSync(trace, "utf8").matchAll(/^\d+ +(?:fsync|fdatasync)\(\d+<([^>]+)>/gm)
  return Array.from(flushes, ([, file]) => path.basename(file ?? ""))
}

describe("groups of the embedded ledger", () => {
  it.effect(`are flushed once each, with few other flushes${limitation}`, () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const ledger = path.join(folder, "ledger")
      if (!canTrace) {
        const { sqlite } = yield* openLedgerFile(ledger)
        assert.deepStrictEqual(sqlite.all("pragma synchronous")[0], { synchronous: 2 }) // full
        return
      }
      const startedAt = performance.now()
      const flushed = traceFlushes(folder, [path.join(import.meta.dirname, "many-groups.ts"), ledger, String(groups)])
      const seconds = Math.ceil((performance.now() - startedAt) / 1000)
      const flushedWhileWriting = flushed.slice(flushed.indexOf("ledger.first") + 1, flushed.indexOf("ledger.last"))
      const logFlushes = flushedWhileWriting.filter((name) => name === "ledger.sqlite-wal").length
      assert.isAtLeast(logFlushes, groups)
      assert.isAtMost(flushed.length, groups + maxOtherFlushes + maxPerSecond * seconds)
    })
  )
})
