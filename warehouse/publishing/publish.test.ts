import { statSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  exampleIn,
  listFiles,
  pears,
  publishRows,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Fiber, FileSystem, Option } from "effect"
import type { Layout } from "../generation/layout.ts"
import { readKeptManifests } from "../generation/manifest.ts"
import { identifyFile } from "../generation/parts.ts"
import type { Check } from "./check.ts"
import { publish } from "./publish.ts"
import { rollback } from "./rollback.ts"
import { stage } from "./staging.ts"

/** Names of all files and folders below a folder. */
const listFilesBelow = (folder: string) =>
  Effect.map(
    FileSystem.FileSystem.use((fs) => fs.readDirectory(folder, { recursive: true })),
    (names) => names.sort()
  )

/** A warehouse whose only generation has the price of apples. */
const withApples = copyPerTest(Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] })))

const readManifests = ({ depot }: Layout) => readKeptManifests(depot)
const readNewest = (layout: Layout) => Effect.map(readManifests(layout), (all) => all.at(-1))

describe("a published generation", () => {
  itLive("is a manifest of read-only parts under their SHA-256, and no other files remain", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const { run } = yield* publishRows(layout, { prices: [apples] })
      assert.strictEqual(run.generation, "larder-000001")
      const manifest = yield* readNewest(layout)
      assert.deepInclude(manifest, { number: 1, replaces: null })
      const { parts = [] } = manifest?.data_sets.example ?? {}
      assert.deepStrictEqual(
        parts.map(({ name }) => name),
        ["example.duckdb"]
      )
      for (const { bytes, sha256 } of [...parts, ...(manifest?.ingest.parts ?? [])]) {
        const file = layout.objectFile(sha256)
        assert.strictEqual(statSync(file).mode & 0o777, 0o444)
        assert.deepStrictEqual(yield* identifyFile(file), { sha256, bytes })
      }
      assert.deepStrictEqual(yield* listFiles(layout.dir), [
        ".example.lock",
        ".opened.lock",
        "example.duckdb",
        "generations",
        "ingestion.duckdb",
        "larder.duckdb",
        "objects",
        "seen"
      ])
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
    })
  )
  itLive("lists its run and its checks immediately", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const priced: Check = {
        name: "priced",
        severity: "error",
        description: "all is priced",
        sql: "select 1 where false"
      }
      yield* publishRows(layout, { prices: [apples] }, { run: { run_id: "good" }, checks: [priced] })
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select run_id, outcome, generation, rows_read, rows_loaded, message, started_at, rolled_back_by from ingest.run"
        ),
        [
          {
            run_id: "good",
            outcome: "published",
            generation: "larder-000001",
            rows_read: "1",
            rows_loaded: "1",
            message: null,
            started_at: "2026-01-05 10:00:00",
            rolled_back_by: null
          }
        ]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select run_id, name, bad_rows::integer as bad_rows from ingest.check_result order by all"
        ),
        [
          { run_id: "good", name: "priced", bad_rows: 0 },
          { run_id: "good", name: "rows_accounted_for", bad_rows: 0 }
        ]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select generation, kind, pipeline, run_id, note from ingest.generation"),
        [{ generation: "larder-000001", kind: "run", pipeline: "example", run_id: "good", note: null }]
      )
    })
  )
  itLive("keeps the live data of other data sets", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const cellar = exampleIn("cellar")
      yield* publishRows(layout, { shelves: ["deep"], prices: [pears] }, { target: cellar })
      yield* publishRows(layout, { shelves: ["right"] })
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "from example.shelf, (select shelf as deep from cellar.shelf)"),
        [{ shelf: "right", position: 1, deep: "deep" }]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select item from example.price union all select item from cellar.price"),
        [{ item: "apple" }, { item: "pear" }]
      )
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select pipeline from ingest.run order by generation"), [
        { pipeline: "example" },
        { pipeline: "cellar" },
        { pipeline: "example" }
      ])
    })
  )
})

describe("checks", () => {
  const found = { prices: [apples, pears] }
  const expensive = (severity: Check["severity"]): Check => ({
    name: "cheap",
    severity,
    description: "nothing costs more than a dollar",
    sql: "select item, price from example.price where price > 1 order by item"
  })

  itLive("publish nothing if a check of severity error fails, and show the bad rows", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const error = yield* Effect.flip(publishRows(layout, found, { checks: [expensive("error")] }))
      assert.strictEqual(
        error.message,
        'Checks failed; nothing was published, and the previous generation stays live.\n  cheap: 2 bad rows, such as [{"item":"apple","price":1.2500},{"item":"pear","price":2.0000}]\n    (passes if: nothing costs more than a dollar)'
      )
      assert.strictEqual((yield* readNewest(layout))?.number, 1)
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
    })
  )
  itLive("are recorded and logged if a check of severity warning fails, and the run is published", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, found, { checks: [expensive("warning")] })
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select name, severity, bad_rows, examples::varchar as examples, description from ingest.check_result where bad_rows > 0"
        ),
        [
          {
            name: "cheap",
            severity: "warning",
            bad_rows: "2",
            examples: '[{"item":"apple","price":1.2500},{"item":"pear","price":2.0000}]',
            description: "nothing costs more than a dollar"
          }
        ]
      )
      assert.isTrue(logs.some((line) => line.startsWith("Warn: check")))
    })
  )
  itLive("show five of a million bad rows", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const sql = "select range as i from range(1000000)"
      const { checks } = yield* publishRows(layout, found, { checks: [{ ...expensive("warning"), sql }] })
      const [, million] = checks
      assert.deepStrictEqual(
        [million?.bad_rows, million?.examples],
        [1_000_000, '[{"i":0},{"i":1},{"i":2},{"i":3},{"i":4}]']
      )
    })
  )
  itLive("publish nothing if DuckDB cannot run one, and name it", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const error = yield* Effect.flip(
        publishRows(layout, found, { checks: [{ ...expensive("error"), sql: "from nowhere" }] })
      )
      assert.match(
        error.message,
        /^Publishing failed while checking the new database and recording the run: .*nowhere.*\(in: check cheap/s
      )
      assert.deepStrictEqual(yield* readManifests(layout), [])
    })
  )
  itLive("require that each row read is loaded, unchanged or rejected", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const run = aRun({ rows_read: 3 })
      const { staged } = yield* stage(layout, run, example.dataSet, (staging) =>
        staging.add(example.delivery, [{ item: "a", delivered_on: "2026-01-05", quantity: 1, run_id: run.run_id }])
      )
      const error = yield* Effect.flip(publishStaged(layout, example.dataSet, staged, run))
      assert.match(error.message, /rows_accounted_for: 1 bad rows/)
    })
  )
  itLive("compare with the live data, if there is any, unless the operator accepts fewer rows", () =>
    Effect.gen(function* () {
      const cheaper: Check = {
        name: "prices_do_not_fall",
        severity: "error",
        description: "no price of this run is below the one before",
        sql: `select item, l.price as before, n.price as now from live.example.price l join example.price n using (item)
              where n.run_id = getvariable('run_id') and n.price < l.price`,
        isLiveComparison: true
      }
      const options = { checks: [cheaper] }
      const layout = yield* aLayout
      const first = yield* publishRows(layout, { prices: [apples] }, options)
      assert.deepStrictEqual(
        first.checks.map(({ name }) => name),
        ["rows_accounted_for"]
      )
      const reduced = { prices: [{ ...apples, price: "0.5000" }] }
      const { message } = yield* Effect.flip(publishRows(layout, reduced, options))
      assert.match(message, /prices_do_not_fall: 1 bad rows, such as \[\{"item":"apple","before":1.25.*"now":0.5/)
      assert.strictEqual((yield* readNewest(layout))?.number, 1)
      const { checks, run } = yield* publishRows(layout, reduced, { ...options, acceptShrinkage: true })
      assert.strictEqual(run.generation, "larder-000002")
      assert.deepInclude(checks[1], { name: "prices_do_not_fall", severity: "warning", bad_rows: 1 })
    })
  )
})

describe("a run during which its data set was rolled back", () => {
  itLive("publishes nothing, because data that it skipped as known is no longer live, and advises to run again", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      yield* publishRows(layout, { prices: [pears] })
      const since = yield* readNewest(layout)
      const run = aRun()
      const { staged } = yield* stage(layout, run, example.dataSet, () => Effect.void)
      yield* rollback(layout, { to: Option.none(), only: Option.none(), note: Option.none() })
      const publication = {
        layout,
        dataSet: example.dataSet,
        mappingVersion: 1,
        staged,
        since,
        run,
        leftOut: [],
        skippedRows: 0
      }
      const error = yield* Effect.flip(publish({ ...publication, checks: [], dryRun: false }))
      assert.match(
        error.message,
        /^example was rolled back \(larder-000003\) while this run was reading or publishing: .*run again\.$/
      )
      assert.strictEqual((yield* readNewest(layout))?.number, 3)
    })
  )
})

describe("a dry run", () => {
  itLive("merges and checks, and publishes nothing", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const before = yield* listFilesBelow(layout.dir)
      const { checks, run } = yield* publishRows(layout, { prices: [pears] }, { dryRun: true })
      assert.deepStrictEqual([run.generation, run.rows_loaded, checks.length], [null, 1, 1])
      assert.deepStrictEqual(yield* listFilesBelow(layout.dir), before)
    })
  )
})

describe("an interrupted publication", () => {
  itLive("keeps the old generation live, and leaves no files", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const before = yield* listFilesBelow(layout.dir)
      const endless: Check = {
        name: "slow",
        severity: "error",
        description: "",
        sql: "select sum(sin(a.range * b.range)) as s from range(1000000) a, range(100000) b having s is null"
      }
      const publication = yield* Effect.forkChild(publishRows(layout, { prices: [pears] }, { checks: [endless] }))
      while (!(yield* listFilesBelow(layout.staging)).some((name) => name.endsWith("built.duckdb"))) {
        yield* Effect.sleep("5 millis")
      }
      yield* Fiber.interrupt(publication)
      assert.deepStrictEqual(yield* listFilesBelow(layout.dir), before)
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
      assert.strictEqual((yield* publishRows(layout, { prices: [pears] })).run.generation, "larder-000002")
    })
  )
})

describe("a folder that cannot be used", () => {
  itLive("fails the publication, with advice", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.writeFileString(layout.dir, "a file where the folder should be")
      const error = yield* Effect.flip(publishRows(layout, { prices: [apples] }))
      assert.match(error.message, /warehouse cannot be created or written: EEXIST.*Set LARDER_HOME/)
    })
  )
})
