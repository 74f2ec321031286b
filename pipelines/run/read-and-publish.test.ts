import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { originOf } from "@larder/test/support/pipelines/raw-archive.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  pears,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { interruptAtManifest } from "@larder/test/support/warehouse/interrupt-at-manifest.ts"
import { onAnotherMachine, overtakeWith } from "@larder/test/support/warehouse/other-machine.ts"
import { type Check, type Layout, rawFileTable, rejectTable, rollback } from "@larder/warehouse"
import { Deferred, Effect, Fiber, FileSystem, Option } from "effect"
import { Archive } from "./archive/archive.ts"
import { listArchivedRuns } from "./archive/archived-runs.ts"
import type { Pipeline } from "./pipeline.ts"
import type { FailedRun } from "./pipeline-run.ts"
import { readAndPublish } from "./read-and-publish.ts"
import { ingestFromOrigin } from "./run.ts"

const feed = "shop"
const url = "https://shop.example/prices.txt"

/** Reads lines such as `apple 1.25`; others are rejected. */
const makePipeline = (checks: ReadonlyArray<Check>): Pipeline => ({
  name: "example",
  dataSet: example.dataSet,
  mappingVersion: 1,
  rowNoun: "prices",
  checks,
  samples: new URL("file:///none/"),
  recordingFolders: [],
  read: Effect.fnUntraced(function* ({ run_id, staging }) {
    const fs = yield* FileSystem.FileSystem
    const payload = yield* Archive.use((archive) => archive.fetch({ url, accept: "*/*" }))
    const lines = (yield* fs.readFileString(payload.path)).split("\n")
    const source = { pipeline: "example", feed, run_id, raw_sha256: payload.sha256 }
    const prices = lines.flatMap((line) => {
      const [item = "", price] = line.split(" ")
      return price === undefined ? [] : [{ item, price, seen_on: "2026-01-05", run_id }]
    })
    const rejects = lines.filter((line) => !line.includes(" "))
    yield* staging.add(example.price, prices)
    yield* staging.add(
      rejectTable,
      rejects.map((line, at) => ({ ...source, position: at + 1, reason: "has no price", payload: line }))
    )
    const { bytes, content_type, fetched_at } = payload
    const counts = { rows_read: lines.length, rows_rejected: rejects.length }
    yield* staging.add(rawFileTable, [
      { ...source, ...counts, url, bytes, content_type, fetched_at, mapping_sha256: "1" }
    ])
    return { ...counts, rows_skipped: 0, feeds: 1, left_out: [] }
  }, Effect.orDie)
})

interface RunSettings {
  readonly run_id?: string
  readonly checks?: ReadonlyArray<Check>
  readonly onFailed?: (run: FailedRun) => void
}

/** Runs the pipeline on a source with these lines. */
const runWith = (
  layout: Layout,
  lines: ReadonlyArray<string>,
  { checks = [], run_id = "own", ...others }: RunSettings = {}
) =>
  readAndPublish({
    pipeline: makePipeline(checks),
    layout,
    started: aRun({ run_id, origin: "live", outcome: "failed", rows_read: null }),
    options: { home: layout.home, days: undefined, dryRun: false, ...others }
  }).pipe(
    Effect.provide([
      originOf({ [url]: lines.join("\n") }),
      Archive.layer({ folder: `${layout.home}/raw`, run_id, pipeline: "example", days: null })
    ])
  )

const withApples = copyPerTest(
  Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] }, { run: { run_id: "before" } }))
)

const checkNamed = (name: string, sql: string): Check => ({ name, severity: "error", description: name, sql })
const passingCheck = checkNamed("priced", "select 1 where false")
const failingCheck = checkNamed("cheap", "select item from example.price where price > 1")

describe("a run that fails", () => {
  for (const [when, home] of [
    ["the first load", aLayout],
    ["a later run", withApples]
  ] as const) {
    itLive(`is recorded with its checks, rejects and payloads, which the views of live data leave out: ${when}`, () =>
      Effect.gen(function* () {
        const layout = yield* home
        const lines = ["pear 2", "melon"]
        yield* Effect.flip(runWith(layout, lines, { run_id: "failed", checks: [passingCheck, failingCheck] }))
        const joinedTables = "from ingest.run join ingest.reject using (run_id) join ingest.raw_file using (run_id)"
        assert.deepStrictEqual(
          yield* queryWarehouse(
            layout,
            `select run_id, outcome, run.rows_read::integer as rows, reason, payload, url ${joinedTables}`
          ),
          [{ run_id: "failed", outcome: "checks_failed", rows: 2, reason: "has no price", payload: "melon", url }]
        )
        assert.deepStrictEqual(
          yield* queryWarehouse(
            layout,
            "select name, bad_rows > 0 as failed from ingest.check_result where run_id = 'failed' and name <> 'rows_accounted_for' order by name"
          ),
          [
            { name: "cheap", failed: true },
            { name: "priced", failed: false }
          ]
        )
        for (const view of ["live_reject", "live_raw_file"]) {
          assert.deepStrictEqual(yield* queryWarehouse(layout, `from ingest.${view}`), [])
        }
        yield* runWith(layout, lines)
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select run_id, payload from ingest.live_reject"), [
          { run_id: "own", payload: "melon" }
        ])
      })
    )
  }
  itLive("records ten thousand of its rejects", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const lines = ["pear 2", ...Array.from({ length: 10_001 }, (_, at) => `${at}`)]
      yield* Effect.flip(runWith(layout, lines, { checks: [failingCheck] }))
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select count(*)::integer as rejects, any_value(run.rows_rejected)::integer as of from ingest.reject join ingest.run using (run_id)"
        ),
        [{ rejects: 10_000, of: 10_001 }]
      )
    })
  )
})

const readItems = (layout: Layout) =>
  Effect.map(queryWarehouse(layout, "select item from example.price order by item"), (rows) =>
    rows.map(({ item }) => item)
  )
const readRuns = (layout: Layout) =>
  Effect.map(
    queryWarehouse(layout, "select run_id, outcome, generation from ingest.run order by recorded_in"),
    (rows) => rows.map((row) => Object.values(row))
  )

describe("a run during which another machine publishes the data set", () => {
  for (const [when, home, before] of [
    ["the first load", aLayout, []],
    ["a later run", withApples, ["apple"]]
  ] as const) {
    itLive(`publishes on top of it without fetching again, and neither loses a row: ${when}`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* home
        const winner = publishRows(onAnotherMachine(layout), { prices: [pears] }, { run: { run_id: "winner" } })
        const { run } = yield* runWith(yield* overtakeWith(layout, winner), ["pear 2.0000", "plum 3", "melon"])
        assert.deepInclude(run, { outcome: "published", rows_loaded: 1, rows_unchanged: 1, rows_rejected: 1 })
        assert.deepStrictEqual(yield* readItems(layout), [...before, "pear", "plum"])
        const first = before.length
        assert.deepStrictEqual((yield* readRuns(layout)).slice(first), [
          ["winner", "published", `larder-00000${first + 1}`],
          ["own", "published", `larder-00000${first + 2}`]
        ])
        assert.strictEqual((yield* queryWarehouse(layout, "from ingest.reject")).length, 1)
        const fetched = (yield* fs.readFileString(`${layout.home}/raw/fetches/own.ndjson`)).trim().split("\n")
        assert.strictEqual(fetched.length, 1)
        assert.deepStrictEqual(yield* fs.readDirectory(layout.staging), [])
      })
    )
  }
  itLive("is unchanged if the other run published everything that it read", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const winner = publishRows(onAnotherMachine(layout), { prices: [pears] }, { run: { run_id: "winner" } })
      const { run } = yield* runWith(yield* overtakeWith(layout, winner), ["pear 2.0000"])
      assert.deepInclude(run, { outcome: "unchanged", rows_loaded: 0, generation: null })
      assert.deepStrictEqual(yield* readItems(layout), ["apple", "pear"])
    })
  )
  itLive("fails if the other run has a newer version of the mapping, and is recorded once", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const newer = { mappingVersion: 2, run: { run_id: "newer" } }
      const winner = publishRows(onAnotherMachine(layout), { prices: [pears] }, newer)
      const error = yield* Effect.flip(runWith(yield* overtakeWith(layout, winner), ["plum 3"]))
      assert.match(
        error.message,
        /^The live data of example was made with version 2 .* Update Larder on this machine\.$/
      )
      assert.deepStrictEqual(yield* readItems(layout), ["pear"])
      assert.deepStrictEqual(yield* readRuns(layout), [
        ["newer", "published", "larder-000001"],
        ["own", "failed", null]
      ])
    })
  )
  itLive("fails if the other run was rolled back, and is recorded once", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      yield* publishRows(layout, { prices: [pears] }, { run: { run_id: "undone" } })
      const options = { to: Option.none<number>(), only: Option.none<string>(), note: Option.none<string>() }
      const rolledBack = yield* overtakeWith(layout, rollback(onAnotherMachine(layout), options))
      const error = yield* Effect.flip(runWith(rolledBack, ["plum 3"]))
      assert.match(error.message, /^example was rolled back \(larder-000003\) while this run was .* run again\.$/)
      assert.deepStrictEqual(yield* readItems(layout), ["apple"])
      assert.deepStrictEqual((yield* readRuns(layout)).at(-1), ["own", "failed", null])
    })
  )
})

describe("a run that is live", () => {
  itLive("is reported as recorded, with a warning, if it is interrupted after writing its manifest", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const reported: Array<unknown> = []
      const onFailed = ({ run: { generation, outcome, rows_loaded } }: FailedRun) =>
        reported.push({ outcome, generation, rows_loaded })
      yield* interruptAtManifest(layout, (to) => runWith(to, ["pear 2"], { onFailed }))
      assert.deepStrictEqual(reported, [{ outcome: "published", generation: "larder-000001", rows_loaded: 1 }])
      assert.deepStrictEqual(yield* readItems(layout), ["pear"])
      assert.isTrue(logs.some((line) => line.startsWith("Warn: the failure came too late: own was already recorded")))
    })
  )
  itLive("is reported as published if it is interrupted while large payloads are compressed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      const reported: Array<unknown> = []
      const onFailed = ({ run: { generation, outcome } }: FailedRun) => reported.push({ outcome, generation })
      const begun = yield* Deferred.make<void>()
      const stat: typeof fs.stat = (file) =>
        /[/][0-9a-f]{2}[/][0-9a-f]{64}$/.test(file) // of a payload in the archive
          ? Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
          : fs.stat(file)
      const running = yield* ingestFromOrigin(makePipeline([]), {
        home: layout.home,
        days: undefined,
        dryRun: false,
        onFailed
      }).pipe(
        Effect.provide(originOf({ [url]: "pear 2" })),
        Effect.provideService(FileSystem.FileSystem, { ...fs, stat }),
        Effect.forkChild
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(running)
      assert.deepStrictEqual(reported, [{ outcome: "published", generation: "larder-000001" }])
      assert.deepStrictEqual(yield* readItems(layout), ["pear"])
      const [run] = yield* listArchivedRuns(`${layout.home}/raw`, "example")
      assert.deepInclude(run, { generation: 1 })
    })
  )
  itLive("succeeds even if the archive cannot record that it has published", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      const pipeline = makePipeline([])
      const read: Pipeline["read"] = (context) =>
        Effect.tap(pipeline.read(context), () => {
          const list = `${layout.home}/raw/fetches/${context.run_id}.ndjson`
          return Effect.andThen(fs.remove(list), fs.makeDirectory(list)).pipe(Effect.orDie) // nothing can be appended to a folder
        })
      const options = { home: layout.home, days: undefined, dryRun: false }
      const { run } = yield* ingestFromOrigin({ ...pipeline, read }, options).pipe(
        Effect.provide(originOf({ [url]: "pear 2" }))
      )
      assert.strictEqual(run.generation, "larder-000001")
      assert.deepStrictEqual(yield* readItems(layout), ["pear"])
      const [warning = "", ...others] = logs.filter((line) => line.startsWith("Warn"))
      assert.match(warning, /^Warn: the archive does not record that this run is live: .*EISDIR/)
      assert.deepStrictEqual(others, [])
    })
  )
})
