/** Prunes the archive of a shop: undisturbed, killed, and during runs. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { assignUrls, filesIn, originOf, plainName, sha256Of } from "@larder/test/support/pipelines/raw-archive.ts"
import {
  archiveWithFailures,
  expectRebuildable,
  listsOf,
  makeRunsOld,
  neededPayloads,
  payloadsOf,
  pruneUntilKilled,
  rawOf,
  runOnce,
  shop
} from "@larder/test/support/pipelines/shop-archive.ts"
import { aLayout, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { type Layout, rawFileTable, rollback } from "@larder/warehouse"
import { ConfigProvider, Effect, FileSystem, Option, type Path } from "effect"
import type { Pipeline } from "../pipeline.ts"
import { rebuildDataSet } from "../rebuild.ts"
import { ingestFromOrigin } from "../run.ts"
import { type Keep, pruneArchive } from "./prune.ts"

const bytesOf = (layout: Layout) =>
  filesIn(rawOf(layout))
    .concat(listsOf(layout).map((name) => `fetches/${name}`))
    .reduce((sum, name) => sum + statSync(`${rawOf(layout)}/${name}`).size, 0)

/** Prunes when no run is recent any more. By default, it removes every run that a rebuild does not need. */
const pruneHome = (layout: Layout, { dryRun = false, keep = { runs: 0 } }: { dryRun?: boolean; keep?: Keep } = {}) =>
  pruneArchive(layout, { keep, dryRun }).pipe(withClockAhead("7 hours"))

const nothing = { payloads: 0, bytes: 0, unlisted_payloads: 0, unlisted_bytes: 0 }

const withFailures = archiveWithFailures()

describe("pruning the raw archive", () => {
  itLive("removes payloads that only failed runs fetched, and a rebuild has the same rows and ids", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      const [before, filesBefore] = [bytesOf(layout), filesIn(rawOf(layout))]
      const preview = yield* pruneHome(layout, { dryRun: true })
      assert.deepStrictEqual(filesIn(rawOf(layout)), filesBefore)
      const done = yield* pruneHome(layout)
      assert.deepStrictEqual(done, { ...preview, dry_run: false })
      assert.deepStrictEqual(
        done.runs.map(({ outcome, rolled_back }) => [outcome, rolled_back]),
        [
          ["failed", false],
          ["failed", false]
        ]
      )
      assert.deepInclude(done, { payloads: 2, kept: 3 })
      assert.deepStrictEqual(payloadsOf(layout), neededPayloads)
      assert.isAtMost(done.bytes, before - bytesOf(layout))
      assert.isAbove(done.bytes, 500)
      assert.deepInclude(yield* pruneHome(layout), { runs: [], ...nothing, kept: 3 })
      yield* expectRebuildable(layout)
    })
  )
  itLive("keeps a rolled-back run while its generation can be restored", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* runOnce(layout, "apples", "pears")
      yield* runOnce(layout, "apples", "figs")
      yield* rollback(layout, { to: Option.none(), only: Option.none(), note: Option.none() })
      assert.deepStrictEqual((yield* pruneHome(layout)).runs, [])
      const keepingOne = ConfigProvider.layer(ConfigProvider.fromEnvRecord({ LARDER_KEPT_GENERATIONS: "1" }))
      yield* Effect.provide(runOnce(layout, "apples", "plums"), keepingOne)
      const [first, , third] = listsOf(layout)
      const { runs } = yield* pruneHome(layout)
      assert.deepStrictEqual(
        runs.map(({ outcome, rolled_back }) => [outcome, rolled_back]),
        [["published", true]]
      )
      assert.deepStrictEqual(listsOf(layout), [first, third])
      assert.deepStrictEqual(payloadsOf(layout), ["apples", "pears", "plums"])
      yield* rebuildDataSet(shop, layout)
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from shops.price order by item"), [
        { item: "apples" },
        { item: "pears" },
        { item: "plums" }
      ])
    })
  )
  itLive("keeps the newest runs, or those of the last days, in any case", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      for (const eggs of ["1", "2", "3"]) yield* runOnce(layout, `spoiled eggs ${eggs}`, "pears")
      const lists = listsOf(layout)
      assert.deepStrictEqual((yield* pruneHome(layout, { keep: { days: 1 } })).runs, [])
      yield* pruneHome(layout, { keep: { runs: 2 } })
      assert.deepStrictEqual(listsOf(layout), lists.slice(1))
      yield* pruneHome(layout, { keep: { days: 1 } }).pipe(withClockAhead("18 hours"))
      assert.deepStrictEqual(listsOf(layout), [])
      assert.deepStrictEqual(filesIn(rawOf(layout)), [])
    })
  )
  itLive("keeps payloads of a run that was killed less than six hours ago, for the next run to reuse", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      yield* runOnce(layout, "apples", "pears") // records the killed one
      const lists = listsOf(layout)
      assert.deepStrictEqual((yield* pruneArchive(layout, { keep: { runs: 0 }, dryRun: false })).runs, [])
      assert.deepStrictEqual(listsOf(layout), lists)
    })
  )
  itLive("keeps a run that published according to its list, even if a later repetition failed", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      const fs = yield* FileSystem.FileSystem
      const [, failed = "", , published = ""] = listsOf(layout)
      const list = (name: string) => `${rawOf(layout)}/fetches/${name}`
      const [end = ""] = (yield* fs.readFileString(list(published))).trimEnd().split("\n").slice(-1)
      yield* fs.writeFileString(list(failed), `${end}\n`, { flag: "a" })
      assert.deepStrictEqual(
        (yield* pruneHome(layout)).runs.map(({ run_id }) => `${run_id}.ndjson`),
        [listsOf(yield* withFailures)[2]]
      )
    })
  )
  itLive("removes both files of a payload whose run was killed while it compressed it", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      const plain = `${rawOf(layout)}/${plainName("spoiled milk")}`
      copyFileSync(plain, `${plain}.zst`)
      assert.deepInclude(yield* pruneHome(layout), { payloads: 2 })
      assert.deepStrictEqual(payloadsOf(layout), neededPayloads)
      assert.isFalse(existsSync(path.dirname(plain)))
    })
  )
  itLive("leaves a home without an archive as it is", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      assert.deepStrictEqual(yield* pruneHome(layout), { dry_run: false, runs: [], ...nothing, kept: 0 })
      assert.deepStrictEqual(readdirSync(layout.home), [])
    })
  )
})

describe("payloads that no list names", () => {
  /** Stores a payload as a run that was killed before it listed it. */
  const storeUnlisted = (layout: Layout, text: string, hoursAgo: number) => {
    const file = `${rawOf(layout)}/${plainName(text)}`
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
    const at = Date.now() / 1000 - 3600 * hoursAgo
    utimesSync(file, at, at)
  }
  const unlistedIn = (layout: Layout) => payloadsOf(layout).filter((text) => text.startsWith("unlisted"))

  itLive("are removed if they are older than what is kept, and counted", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      storeUnlisted(layout, "unlisted, old", 60)
      storeUnlisted(layout, "unlisted, new", 30)
      const keep: Keep = { days: 2 }
      const preview = yield* pruneArchive(layout, { keep, dryRun: true })
      assert.deepInclude(preview, { runs: [], payloads: 0, unlisted_payloads: 1, unlisted_bytes: 13 })
      assert.deepStrictEqual(unlistedIn(layout), ["unlisted, new", "unlisted, old"])
      assert.deepStrictEqual(yield* pruneArchive(layout, { keep, dryRun: false }), { ...preview, dry_run: false })
      assert.deepStrictEqual(unlistedIn(layout), ["unlisted, new"])
      yield* expectRebuildable(layout)
    })
  )
  itLive("are kept with the newest runs if they are not older than these", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      storeUnlisted(layout, "unlisted, old", 1)
      yield* runOnce(layout, "apples", "pears")
      yield* runOnce(layout, "apples", "figs")
      storeUnlisted(layout, "unlisted, new", 0)
      yield* pruneHome(layout, { keep: { runs: 2 } })
      assert.deepStrictEqual(unlistedIn(layout), ["unlisted, new"])
      yield* pruneHome(layout)
      assert.deepStrictEqual(unlistedIn(layout), [])
    })
  )
  itLive("are kept for six hours, with any value of --keep", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* runOnce(layout, "apples", "pears")
      storeUnlisted(layout, "unlisted", 5)
      yield* pruneArchive(layout, { keep: { runs: 0 }, dryRun: false })
      assert.deepStrictEqual(unlistedIn(layout), ["unlisted"])
    })
  )
  itLive("are kept if a recorded run has read them: its list may have been moved out of the archive", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const fs = yield* FileSystem.FileSystem
      const source = { pipeline: "shops", feed: "shops/all", url: "https://source.test/0", content_type: null }
      const counts = { bytes: 6, rows_read: 1, rows_rejected: 0, mapping_sha256: "1" }
      const read: Pipeline["read"] = (context) =>
        Effect.tap(shop.read(context), () =>
          context.staging
            .add(rawFileTable, [
              {
                ...source,
                ...counts,
                run_id: context.run_id,
                raw_sha256: sha256Of("apples"),
                fetched_at: "2026-01-05T00:00:00.000Z"
              }
            ])
            .pipe(Effect.orDie)
        )
      yield* ingestFromOrigin({ ...shop, read }, { home: layout.home, days: undefined, dryRun: false }).pipe(
        Effect.provide(originOf(assignUrls(["apples", "pears"])))
      )
      const [list = ""] = listsOf(layout)
      yield* fs.rename(`${rawOf(layout)}/fetches/${list}`, `${layout.home}/${list}`)
      assert.deepInclude(yield* pruneHome(layout), { unlisted_payloads: 1 }) // of the pears
      assert.deepStrictEqual(payloadsOf(layout), ["apples"])
    })
  )
})

/** `test/long/pruning-kills.test.ts` kills a prune at each of its calls of the file system. */
describe("a prune that is killed", () => {
  itLive("between two payloads loses nothing that is needed, and the next prune completes it", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      makeRunsOld(layout)
      const { signal, stderr } = pruneUntilKilled(layout, { methods: ["remove"], pattern: "/[0-9a-f]{64}$", nth: 2 })
      assert.strictEqual(signal, "SIGKILL", stderr)
      assert.lengthOf(payloadsOf(layout), neededPayloads.length + 1)
      yield* expectRebuildable(layout)
      yield* pruneHome(layout)
      assert.deepStrictEqual(payloadsOf(layout), neededPayloads)
      assert.lengthOf(listsOf(layout), 3)
    })
  )
})

const payloadFile = /[/][0-9a-f]{2}[/][0-9a-f]{64}$/

/** Makes a file system that runs `action` when a payload gets its name, or when it is removed. */
const whenPayloadIs = <E>(
  change: "stored" | "removed",
  action: Effect.Effect<unknown, E, FileSystem.FileSystem | Path.Path>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const running = Effect.orDie(Effect.provide(action, context))
    const watch = (file: string) => (payloadFile.test(file) ? running : Effect.void)
    const watched: FileSystem.FileSystem =
      change === "stored"
        ? { ...fs, rename: (from, to) => Effect.andThen(watch(to), fs.rename(from, to)) }
        : { ...fs, remove: (file, options) => Effect.andThen(watch(file), fs.remove(file, options)) }
    return watched
  })

describe("a prune and concurrent runs", () => {
  itLive("fails while a run is active", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      let refused = ""
      const pruning = Effect.map(Effect.flip(pruneHome(layout)), ({ message }) => {
        refused = message
      })
      yield* Effect.provideServiceEffect(
        runOnce(layout, "spoiled", "kiwis"),
        FileSystem.FileSystem,
        whenPayloadIs("stored", pruning)
      )
      assert.match(refused, /^A run is active: it uses .*\. Nothing was changed; try again when the run has ended\.$/)
      assert.lengthOf(listsOf(layout), 6)
    })
  )
  itLive("holds the lock that a new run needs, and that run fetches removed payloads again", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      let lock = ""
      const tryLock = Effect.gen(function* () {
        lock = yield* (yield* otherProcess({ do: "try", file: layout.stagingLock })).nextLine
      })
      yield* Effect.provideServiceEffect(
        pruneHome(layout),
        FileSystem.FileSystem,
        whenPayloadIs("removed", Effect.scoped(tryLock))
      )
      assert.strictEqual(lock, "in use")
      yield* runOnce(layout, "spoiled eggs", "kiwis")
      assert.deepStrictEqual(payloadsOf(layout), [...neededPayloads, "spoiled eggs", "kiwis"].sort())
    })
  )
})
