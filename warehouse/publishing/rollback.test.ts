import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  aRun,
  exampleIn,
  listFiles,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { interruptAtManifest } from "@larder/test/support/warehouse/interrupt-at-manifest.ts"
import { Effect, FileSystem, Option } from "effect"
import { vi } from "vitest"
import { type Layout, NoWarehouse } from "../generation/layout.ts"
import { listGenerations } from "../generation/listing.ts"
import { withLock } from "../generation/lock.ts"
import { readKeptManifests, readManifest } from "../generation/manifest.ts"
import { recordFailedRun } from "./record.ts"
import { rollback } from "./rollback.ts"

const goBack = (
  layout: Layout,
  options: { readonly to?: number; readonly only?: string; readonly note?: string } = {}
) =>
  rollback(layout, {
    to: Option.fromNullishOr(options.to),
    only: Option.fromNullishOr(options.only),
    note: Option.fromNullishOr(options.note)
  })
const publishDay = (layout: Layout, day: number) => publishRows(layout, { deliveries: [{ item: `day ${day}` }] })
const queryItems = (layout: Layout) =>
  Effect.map(queryWarehouse(layout, "select item from example.delivery order by item"), (rows) =>
    rows.map(({ item }) => item)
  )
/** Numbers of the generations to which a rollback is possible; a star means live, parentheses mean rolled back. */
const listKept = (layout: Layout) =>
  Effect.map(listGenerations(layout), ({ generations }) =>
    generations
      .filter((listed) => listed.kept)
      .map(({ generation, live, rolled_back_by }) => {
        const number = generation.replace(/larder-0+/, "")
        return (rolled_back_by === null ? number : `(${number})`) + (live ? "*" : "")
      })
  )

const threeDays = copyPerTest(
  Effect.gen(function* () {
    const layout = yield* aLayout
    for (const day of [1, 2, 3]) yield* publishDay(layout, day)
    return layout
  })
)
const cellar = exampleIn("cellar")
const aFailure = { run: aRun({ outcome: "failed" }), checks: [], leftOut: [] }

describe("rollback", () => {
  itLive("returns step by step to the data from which the newest was built, until there is no earlier data", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      assert.deepStrictEqual(yield* goBack(layout), {
        generation: "larder-000004",
        data_sets: { example: "larder-000002" }
      })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2"])
      assert.deepStrictEqual(yield* goBack(layout), {
        generation: "larder-000005",
        data_sets: { example: "larder-000001" }
      })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1"])
      assert.deepStrictEqual(yield* listKept(layout), ["1*", "(2)", "(3)"])
      assert.strictEqual(
        (yield* Effect.flip(goBack(layout))).message,
        "larder-000001 is the first generation of example, and there is no other data set, so there is nothing to go back to."
      )
    })
  )
  itLive("returns to a generation by its id or its number, including a later one", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* goBack(layout, { to: 1 })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1"])
      yield* goBack(layout, { to: 3 })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2", "day 3"])
      assert.deepStrictEqual(yield* listKept(layout), ["1", "2", "3*"])
      yield* goBack(layout, { to: 4 }) // generation 4 is the rollback to 1
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1"])
    })
  )
  itLive("records who rolled back, why and to what, and keeps the history of runs", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* goBack(layout, { to: 1, note: "the shop was closed" })
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select generation, kind, pipeline, went_back_to, note, made_by like '%@%' as is_named from ingest.generation where kind = 'rollback'"
        ),
        [
          {
            generation: "larder-000004",
            kind: "rollback",
            pipeline: null,
            went_back_to: "larder-000001",
            note: "the shop was closed",
            is_named: true
          }
        ]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select generation, rolled_back_by from ingest.run order by generation"),
        [
          { generation: "larder-000001", rolled_back_by: null },
          { generation: "larder-000002", rolled_back_by: "larder-000004" },
          { generation: "larder-000003", rolled_back_by: "larder-000004" }
        ]
      )
      yield* goBack(layout, { to: 3 })
      assert.deepStrictEqual(yield* queryWarehouse(layout, "from ingest.run where rolled_back_by is not null"), [])
    })
  )
  itLive("rolls back only one data set if requested", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* publishRows(layout, { prices: [{ item: "wine", price: "9" }] }, { target: cellar })
      yield* publishRows(layout, { prices: [{ item: "wine", price: "11" }] }, { target: cellar })
      const result = yield* goBack(layout, { only: "example" })
      assert.deepStrictEqual(result, { generation: "larder-000006", data_sets: { example: "larder-000002" } })
      const price = queryWarehouse(layout, "select price from cellar.price")
      assert.deepStrictEqual(yield* price, [{ price: "11.0000" }])
      assert.deepStrictEqual((yield* goBack(layout, { only: "cellar", to: 3 })).data_sets, { cellar: null })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2"])
      yield* Effect.flip(price)
      assert.deepStrictEqual((yield* goBack(layout, { to: 5 })).data_sets, {
        example: "larder-000003",
        cellar: "larder-000005"
      })
      assert.deepStrictEqual(yield* price, [{ price: "11.0000" }])
    })
  )
  itLive("of one data set does not wait for a program that publishes another", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* publishRows(layout, { prices: [{ item: "wine", price: "9" }] }, { target: cellar })
      const result = yield* withLock(layout.lockOf("cellar"), goBack(layout, { only: "example" }))
      assert.deepStrictEqual(result.data_sets, { example: "larder-000002" })
    })
  )
  itLive("returns to data with a damaged sidecar file, which servers write again", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      const fs = yield* FileSystem.FileSystem
      const build = (_: unknown, folder: string) =>
        Effect.andThen(fs.makeDirectory(folder), fs.writeFileString(`${folder}/corks`, "all whole"))
      const target = { ...cellar, dataSet: { ...cellar.dataSet, files: { build } } }
      yield* publishRows(layout, { prices: [{ item: "wine", price: "9" }] }, { target })
      yield* publishRows(layout, { prices: [{ item: "wine", price: "11" }] }, { target: cellar })
      const before = (yield* readManifest(layout.depot, 4))?.data_sets.cellar?.parts ?? []
      const corks = before.find(({ name }) => name === "corks")?.sha256 ?? ""
      yield* fs.chmod(layout.objectFile(corks), 0o644)
      yield* fs.writeFileString(layout.objectFile(corks), "one split")
      yield* goBack(layout, { only: "cellar" })
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select price from cellar.price"), [{ price: "9.0000" }])
    })
  )
  itLive("writes temporary files only to the staging folder, as does the record of a failed run", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      vi.stubEnv("TMPDIR", "/not/there")
      yield* Effect.ensuring(
        Effect.andThen(goBack(layout), recordFailedRun(layout, aFailure)),
        Effect.sync(() => vi.unstubAllEnvs())
      )
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
    })
  )
  itLive("changes nothing for an unknown generation or data set, or for one that is already live", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      assert.strictEqual(
        (yield* Effect.flip(goBack(layout, { to: 9 }))).message,
        "There is no generation larder-000009. These are kept: larder-000001, larder-000002, larder-000003."
      )
      for (const to of [3, 2]) {
        const { message } = yield* Effect.flip(goBack(layout, { to, only: "attic" }))
        assert.strictEqual(message, "There is no data set attic. The data sets are: example.")
      }
      assert.strictEqual(
        (yield* Effect.flip(goBack(layout, { to: 3 }))).message,
        "The live data is already that of larder-000003."
      )
      assert.strictEqual((yield* readKeptManifests(layout.depot)).length, 3)
    })
  )
  itLive("is shown to people, and reported as live, if it is interrupted after its manifest was stored", (logs) =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* interruptAtManifest(layout, goBack)
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2"])
      assert.deepStrictEqual(logs, [
        "Warn: the interrupt came too late: the rollback is done, and larder-000004 is live"
      ])
    })
  )
  itLive("fails without a warehouse, and creates no folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      assert.instanceOf(yield* Effect.flip(goBack(layout)), NoWarehouse)
      assert.deepStrictEqual(yield* fs.readDirectory(layout.home), [])
    })
  )
})

describe("publishing after a rollback", () => {
  itLive("builds on the restored data, and keeps what was rolled back", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      yield* goBack(layout)
      const { run } = yield* publishDay(layout, 4)
      assert.strictEqual(run.generation, "larder-000005")
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2", "day 4"])
      assert.deepStrictEqual(yield* listKept(layout), ["1", "2", "(3)", "5*"])
      assert.deepStrictEqual((yield* goBack(layout)).data_sets, { example: "larder-000002" })
    })
  )
  itLive("loads the rows of the rolled-back runs again", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      const repeated = yield* publishDay(layout, 3)
      assert.strictEqual(repeated.run.outcome, "unchanged")
      yield* goBack(layout)
      const { run } = yield* publishDay(layout, 3)
      assert.deepInclude(run, { outcome: "published", rows_loaded: 1 })
      assert.deepStrictEqual(yield* queryItems(layout), ["day 1", "day 2", "day 3"])
    })
  )
})

describe("a data set that was rolled back to before its first run", () => {
  itLive("is loaded again by the next run, even if this happened before", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      const wine = { prices: [{ item: "wine", price: "9" }] }
      for (const run_id of ["first", "second"]) {
        const { run } = yield* publishRows(layout, wine, { target: cellar, run: { run_id } })
        assert.deepInclude(run, { outcome: "published", rows_loaded: 1 })
        yield* goBack(layout, { only: "cellar" })
      }
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select run_id, rolled_back_by from ingest.run where pipeline = 'cellar' order by run_id"
        ),
        [
          { run_id: "first", rolled_back_by: "larder-000005" },
          { run_id: "second", rolled_back_by: "larder-000007" }
        ]
      )
      assert.strictEqual((yield* publishRows(layout, wine, { target: cellar })).run.rows_loaded, 1)
    })
  )
  itLive("does not count as one of its kept states", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      const publishWine = (price: string) =>
        publishRows(layout, { prices: [{ item: "wine", price }] }, { target: cellar })
      yield* publishWine("1")
      yield* goBack(layout, { only: "cellar" })
      for (const price of ["2", "3", "4", "5"]) yield* publishWine(price)
      assert.deepStrictEqual(yield* listKept(layout), ["1", "2", "3*", "(4)", "6", "7", "8", "9*"])
      yield* goBack(layout, { to: 4, only: "cellar" })
    })
  )
})

describe("retention", () => {
  itLive("keeps the five newest states of each data set and the live one, however often the others publish", () =>
    Effect.gen(function* () {
      const layout = yield* threeDays
      for (const price of ["1", "2", "3", "4", "5", "6"]) {
        yield* publishRows(layout, { prices: [{ item: "wine", price }] }, { target: cellar })
      }
      assert.deepStrictEqual(yield* listKept(layout), ["1", "2", "3*", "5", "6", "7", "8", "9*"])
      yield* goBack(layout, { to: 1, only: "example" })
      for (const day of [4, 5, 6, 7, 8]) yield* publishDay(layout, day)
      assert.deepStrictEqual(yield* listKept(layout), ["5", "6", "7", "8", "9*", "11", "12", "13", "14", "15*"])
      const error = yield* Effect.flip(goBack(layout, { to: 1, only: "example" }))
      assert.match(error.message, /^The data of example in larder-000001 is no longer kept\./)
    })
  )
})
