/** Something else than a file where the archive has the list of a run. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { archiveOf, assignUrls, fetchAll, originOf, publishRun } from "@larder/test/support/pipelines/raw-archive.ts"
import { rawOf, shop } from "@larder/test/support/pipelines/shop-archive.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import type { Layout } from "@larder/warehouse"
import { Effect, type FileSystem, type Path, type Scope } from "effect"
import { rebuildDataSet } from "../rebuild.ts"
import { Archive } from "./archive.ts"
import { pruneArchive } from "./prune.ts"

const payloads = assignUrls(["apples", "pears"])
const runId = "2026-shops-1"

/** A layout whose archive has this in place of the list of a run. */
const makeOdd = Effect.fnUntraced(function* (put: (list: string) => void) {
  const layout = yield* aLayout
  yield* publishRun(rawOf(layout), runId, payloads)
  const list = `${rawOf(layout)}/fetches/${runId}.ndjson`
  rmSync(list)
  put(list)
  return { layout, list }
})

describe.each([
  ["a folder", (list: string) => mkdirSync(list)],
  ["a pipe", (list: string) => execFileSync("mkfifo", [list])] // opening it would wait for a writer forever
])("%s in place of a list of fetches", (kind, put) => {
  for (const [name, use] of [
    ["a rebuild", (layout: Layout) => rebuildDataSet(shop, layout)],
    ["a prune", (layout: Layout) => pruneArchive(layout, { keep: { runs: 0 }, dryRun: true })],
    [
      "a run that resumes an interrupted one",
      (layout: Layout) =>
        fetchAll(payloads).pipe(
          Effect.provide([archiveOf(rawOf(layout), "2026-shops-2", { resumesRuns: true }), originOf(payloads)])
        )
    ],
    [
      "a run with conditional requests",
      (layout: Layout) =>
        Archive.use((archive) => archive.revalidate([runId])).pipe(
          Effect.provide(archiveOf(rawOf(layout), "2026-shops-2"))
        )
    ]
  ] as const) {
    itLive(`is refused by name at once: ${name}`, () =>
      Effect.gen(function* () {
        const { layout, list } = yield* makeOdd(put)
        const using: Effect.Effect<unknown, Error, FileSystem.FileSystem | Path.Path | Scope.Scope> = use(layout)
        const error = yield* Effect.flip(using)
        assert.strictEqual(
          error.message,
          `The raw archive cannot be read: ${list}: it is ${kind}, not the list of what a run fetched. Move it out of the archive, and run again.`
        )
      })
    )
  }
  itLive("is no earlier payload", () =>
    Effect.gen(function* () {
      const { layout } = yield* makeOdd(put)
      const found = Archive.use((archive) => archive.findEarlier(runId, "https://source.test/0"))
      assert.isUndefined(yield* found.pipe(Effect.provide(archiveOf(rawOf(layout), "2026-shops-2"))))
    })
  )
})
