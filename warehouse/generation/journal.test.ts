import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem } from "effect"
import { readJournal, writeToJournal } from "./journal.ts"

const check = {
  name: "cheap",
  severity: "error",
  description: "all is cheap",
  bad_rows: 2,
  examples: '[{"a":1}]'
} as const

const leftOut = { feed: "gov-mars/1603", kind: "untrusted" as const, reason: "it is empty" }

describe("the journal", () => {
  itWorks("is empty when there is none yet", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* readJournal(yield* aLayout), [])
    })
  )
  itWorks("gives back runs, their checks and the feeds they left out as they were written, oldest first", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const second = aRun({ run_id: "20260106-b", outcome: "checks_failed", message: 'a "quoted"\nline', rows_read: 3 })
      const first = aRun({ run_id: "20260105-a", outcome: "interrupted", window_from: "2026-01-01" })
      yield* writeToJournal(layout, second, [check], [leftOut])
      yield* writeToJournal(layout, first, [], [])
      assert.deepStrictEqual(yield* readJournal(layout), [
        { file: `${layout.journal}/20260105-a.json`, run: first, checks: [], left_out: [] },
        { file: `${layout.journal}/20260106-b.json`, run: second, checks: [check], left_out: [leftOut] }
      ])
    })
  )
  itWorks("keeps only the last entry of a run", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const run = aRun({ outcome: "failed" })
      yield* writeToJournal(layout, run, [], [])
      yield* writeToJournal(layout, { ...run, outcome: "interrupted" }, [], [])
      const entries = yield* readJournal(layout)
      assert.deepStrictEqual(
        entries.map((entry) => entry.run.outcome),
        ["interrupted"]
      )
    })
  )
  for (const [what, content] of [
    ["is cut short", '{"run":{"run_id":"x"'],
    ["is of another shape", '{"run":{},"checks":[]}'],
    ["is empty", ""]
  ]) {
    itWorks(`leaves a file alone that ${what}, logs a warning, and reads the others`, (logs) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* aLayout
        const run = aRun()
        yield* writeToJournal(layout, run, [], [])
        const odd = `${layout.journal}/odd.json`
        yield* fs.writeFileString(odd, content ?? "")
        yield* fs.writeFileString(`${layout.journal}/.half.tmp`, "half")
        assert.deepStrictEqual(
          (yield* readJournal(layout)).map((entry) => entry.run),
          [run]
        )
        assert.strictEqual(yield* fs.readFileString(odd), content)
        assert.isTrue(logs.some((line) => line.startsWith(`Warn: ${odd} is no run record and is left alone`)))
      })
    )
  }
  itWorks("fails when it cannot be read", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.writeFileString(layout.journal, "a file where the folder should be")
      yield* Effect.flip(readJournal(layout))
    })
  )
})
