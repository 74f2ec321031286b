/** Prunes the archive of a shop: undisturbed, killed, on a full disk, and during runs. */
import { randomBytes } from "node:crypto"
import { readdirSync, statSync, truncateSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { filesIn } from "@larder/test/support/pipelines/raw-archive.ts"
import {
  archiveWithFailures,
  expectRebuildable,
  hashes,
  listsOf,
  makeRunsOld,
  neededPacks,
  packsOf,
  pruneUntilKilled,
  pruneWithLimit,
  rawOf,
  runOnce,
  shop,
  zipsOf
} from "@larder/test/support/pipelines/shop-archive.ts"
import { aLayout, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { type Layout, refreshOpened, rollback } from "@larder/warehouse"
import { ConfigProvider, Effect, FileSystem, Option, type Path } from "effect"
import { rebuildDataSet } from "../rebuild.ts"
import { type Keep, pruneArchive } from "./prune.ts"

const bytesOf = (layout: Layout) =>
  filesIn(rawOf(layout))
    .concat(listsOf(layout).map((name) => `fetches/${name}`))
    .reduce((sum, name) => sum + statSync(`${rawOf(layout)}/${name}`).size, 0)

/** Prunes when no run is recent any more. By default, it removes every run that a rebuild does not need. */
const pruneHome = (layout: Layout, { dryRun = false, keep = { runs: 0 } }: { dryRun?: boolean; keep?: Keep } = {}) =>
  pruneArchive(layout, { keep, dryRun }).pipe(withClockAhead("7 hours"))

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
      assert.deepStrictEqual(yield* packsOf(layout), neededPacks)
      assert.isAtMost(done.bytes, before - bytesOf(layout))
      assert.isAbove(done.bytes, 500)
      assert.deepInclude(yield* pruneHome(layout), { runs: [], payloads: 0, bytes: 0, kept: 3 })
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
      assert.deepStrictEqual(yield* packsOf(layout), [hashes("apples", "pears"), hashes("plums")])
      yield* rebuildDataSet(shop, layout.home)
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
  itLive("leaves a damaged pack as it is, and logs it", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      const [, damaged = ""] = zipsOf(layout)
      const file = `${rawOf(layout)}/packs/${damaged}`
      truncateSync(file, 100)
      assert.deepInclude(yield* pruneHome(layout), { payloads: 1 })
      assert.strictEqual(statSync(file).size, 100)
      assert.match(logs.join("\n"), /Warn: .*\.zip is left as it is: it cannot be read/)
    })
  )
  itLive("leaves a home without an archive as it is", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      assert.deepStrictEqual(yield* pruneHome(layout), { dry_run: false, runs: [], payloads: 0, bytes: 0, kept: 0 })
      assert.deepStrictEqual(readdirSync(layout.home), [])
    })
  )
})

/** `test/long/pruning-kills.test.ts` kills a prune at each of its calls of the file system. */
describe("a prune that is killed", () => {
  itLive("before a smaller pack gets its name loses nothing that is needed, and the next prune completes it", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      makeRunsOld(layout)
      const { signal, stderr } = pruneUntilKilled(layout, { methods: ["rename"], pattern: "packs/.*\\.zip$", nth: 1 })
      assert.strictEqual(signal, "SIGKILL", stderr)
      yield* expectRebuildable(layout)
      yield* pruneHome(layout)
      assert.deepStrictEqual(yield* packsOf(layout), neededPacks)
      assert.lengthOf(listsOf(layout), 3)
    })
  )
})

describe("a prune on a full disk", () => {
  const figs = randomBytes(100_000).toString("hex")
  const withLargePayload = archiveWithFailures(figs)
  itLive("leaves each pack as it was and reports it, and the next prune completes it", () =>
    Effect.gen(function* () {
      const layout = yield* withLargePayload
      yield* refreshOpened(layout) // a copied home needs a new one
      makeRunsOld(layout)
      const before = zipsOf(layout).map((name) => statSync(`${rawOf(layout)}/packs/${name}`).size)
      const { status, stderr } = pruneWithLimit(layout, 120)
      assert.strictEqual(status, 1, stderr)
      assert.match(stderr, /The raw archive .*raw cannot be written: EFBIG/)
      assert.deepStrictEqual(
        zipsOf(layout).map((name) => statSync(`${rawOf(layout)}/packs/${name}`).size),
        before.filter((_, index) => index !== 2) // it had no needed payload
      )
      assert.deepStrictEqual(readdirSync(`${rawOf(layout)}/incoming`), [])
      yield* expectRebuildable(layout)
      yield* pruneHome(layout)
      assert.deepStrictEqual(yield* packsOf(layout), [hashes("apples", "pears"), hashes(figs), hashes("plums")])
    })
  )
})

/** Makes a file system that runs `action` when a pack is renamed. */
const whenPacking = <E>(action: Effect.Effect<unknown, E, FileSystem.FileSystem | Path.Path>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
    const watched: FileSystem.FileSystem = {
      ...fs,
      rename: (from, to) =>
        Effect.andThen(
          to.endsWith(".zip") ? Effect.orDie(Effect.provide(action, context)) : Effect.void,
          fs.rename(from, to)
        )
    }
    return watched
  })

describe("a prune and concurrent runs", () => {
  itLive("fails while a run is active, until it has packed its payloads", () =>
    Effect.gen(function* () {
      const layout = yield* withFailures
      let refused = ""
      const pruning = Effect.map(Effect.flip(pruneHome(layout)), ({ message }) => {
        refused = message
      })
      yield* Effect.provideServiceEffect(
        runOnce(layout, "spoiled", "kiwis"),
        FileSystem.FileSystem,
        whenPacking(pruning)
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
      yield* Effect.provideServiceEffect(pruneHome(layout), FileSystem.FileSystem, whenPacking(Effect.scoped(tryLock)))
      assert.strictEqual(lock, "in use")
      yield* runOnce(layout, "spoiled eggs", "kiwis")
      assert.deepStrictEqual(yield* packsOf(layout), [...neededPacks, hashes("spoiled eggs", "kiwis")])
    })
  )
})
