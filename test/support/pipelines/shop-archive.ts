/** A raw archive with failed runs of a shop, and ways to prune it: in this process, or in one that is killed. */
import { spawnSync } from "node:child_process"
import { readdirSync, utimesSync } from "node:fs"
import { assert } from "@effect/vitest"
import { type Pipeline, ReadFailed } from "@larder/pipelines/run/pipeline.ts"
import { rebuildDataSet } from "@larder/pipelines/run/rebuild.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import type { Layout } from "@larder/warehouse"
import { Effect } from "effect"
import { copyPerTest } from "../warehouse/copy-per-test.ts"
import { aLayout, exampleIn, queryWarehouse } from "../warehouse/example-data-set.ts"
import { archiveOf, assignUrls, fetchAll, originOf, readPayloads } from "./raw-archive.ts"

const { dataSet, price } = exampleIn("shops")

/** Reads two payloads, each with one item of the shop. A spoiled item fails the run. */
export const shop: Pipeline = {
  name: "shops",
  dataSet,
  mappingVersion: 1,
  rowNoun: "prices",
  checks: [],
  samples: new URL("file:///not/there"),
  recordingFolders: [],
  resumesRuns: true,
  rebuildRepeatsEmptyRuns: true,
  read: Effect.fnUntraced(function* ({ run_id, staging }) {
    const items = (yield* fetchAll(assignUrls(["", ""])).pipe(Effect.orDie)).map((bytes) =>
      new TextDecoder().decode(bytes)
    )
    if (items.some((item) => item.startsWith("spoiled"))) return yield* new ReadFailed({ faults: ["spoiled"] })
    yield* staging.add(
      price,
      items.map((item) => ({ item, price: "1", seen_on: "2026-01-05", run_id }))
    )
    return { rows_read: 2, rows_skipped: 0, rows_rejected: 0, feeds: 1, left_out: [] }
  })
}

/** Runs once, and returns the exit even if the run fails. */
export const runOnce = (layout: Layout, first: string, second: string) =>
  Effect.exit(ingestFromOrigin(shop, { home: layout.home, days: undefined, dryRun: false })).pipe(
    Effect.provide(originOf(assignUrls([first, second])))
  )

export const rawOf = ({ home }: Layout) => `${home}/raw`
export const listsOf = (layout: Layout) => readdirSync(`${rawOf(layout)}/fetches`).sort()
export const payloadsOf = (layout: Layout) => readPayloads(rawOf(layout)).map(String).sort()

/** Compressed in the archive; the others are not. */
const figs = "figs ".repeat(100)
export const neededPayloads = ["apples", "dates", figs, "pears", "plums"]

/**
 * The second and the third of four runs failed. The fourth needs the figs that the second has fetched. A fifth run was
 * killed.
 */
export const archiveWithFailures = () =>
  copyPerTest(
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* runOnce(layout, "apples", "pears")
      yield* runOnce(layout, figs, "spoiled milk")
      yield* runOnce(layout, "spoiled eggs", "pears")
      yield* runOnce(layout, figs, "plums")
      const folder = rawOf(layout)
      yield* Effect.provide(fetchAll(assignUrls(["dates"])), [
        archiveOf(folder, "2027-shops"),
        originOf(assignUrls(["dates"]))
      ])
      return layout
    })
  )

const priceRows = "select item, run_id from shops.price order by item"

/** Expects that a rebuild returns the live rows. */
export const expectRebuildable = Effect.fnUntraced(function* (layout: Layout) {
  const before = yield* queryWarehouse(layout, priceRows)
  yield* rebuildDataSet(shop, layout)
  assert.lengthOf(before, 4)
  assert.deepStrictEqual(yield* queryWarehouse(layout, priceRows), before)
})

/** Makes all runs old enough to be pruned by another process. */
export const makeRunsOld = (layout: Layout) => {
  const dayBefore = Date.now() / 1000 - 86_400
  for (const name of listsOf(layout)) utimesSync(`${rawOf(layout)}/fetches/${name}`, dayBefore, dayBefore)
}

interface KillPoint {
  /** The methods of the file system whose calls are counted. */
  readonly methods: ReadonlyArray<string>
  /** Only calls with a path that matches this pattern are counted. */
  readonly pattern: string
  /** The call at which the process kills itself, counted from 1. */
  readonly nth: number
}

const script = `
  import * as NodeServices from "@effect/platform-node/NodeServices"
  import { Effect, FileSystem } from "effect"
  import { layoutOf } from "@larder/warehouse"
  import { pruneArchive } from "./prune.ts"
  const [home, killPoint] = process.argv.slice(1)
  const { methods, pattern, nth } = JSON.parse(killPoint)
  let calls = 0
  const run = Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const killAtCall = (method) => (...args) => {
      const isLast = args.some((arg) => typeof arg === "string" && new RegExp(pattern).test(arg)) && ++calls === nth
      return isLast ? Effect.sync(() => process.kill(process.pid, "SIGKILL")) : fs[method](...args)
    }
    const pruning = pruneArchive(yield* layoutOf(home), { keep: { runs: 0 }, dryRun: false })
    const watched = { ...fs, ...Object.fromEntries(methods.map((method) => [method, killAtCall(method)])) }
    yield* Effect.provideService(pruning, FileSystem.FileSystem, watched)
  })
  await Effect.runPromise(run.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))`

const archiveFolder = new URL("../../../pipelines/run/archive/", import.meta.url)

/** Prunes in a process that kills itself at a call of its file system. */
export const pruneUntilKilled = (layout: Layout, killPoint: KillPoint) =>
  spawnSync(process.execPath, ["--input-type=module", "-e", script, layout.home, JSON.stringify(killPoint)], {
    cwd: archiveFolder,
    encoding: "utf8"
  })
