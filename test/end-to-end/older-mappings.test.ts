/** Runs that find data of an older mapping, with a small pipeline whose mapping is its price. */
import { readdirSync, rmSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { Origin } from "@larder/pipelines/run/origins/origin.ts"
import { type Pipeline, ReadFailed } from "@larder/pipelines/run/pipeline.ts"
import { rebuildDataSet, rebuildOlderMapping } from "@larder/pipelines/run/rebuild.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import { type Layout, rollback } from "@larder/warehouse"
import { Effect, Option } from "effect"
import { itLive } from "../support/it-live.ts"
import { assignUrls, fetchAll, originOf, plainName } from "../support/pipelines/raw-archive.ts"
import { listsOf, rawOf, shop } from "../support/pipelines/shop-archive.ts"
import { copyPerTest } from "../support/warehouse/copy-per-test.ts"
import { aLayout, exampleIn, queryWarehouse } from "../support/warehouse/example-data-set.ts"
import { onAnotherMachine, overtakeWith } from "../support/warehouse/other-machine.ts"
import { requireNewest } from "../support/warehouse/require-newest.ts"

const { price } = exampleIn("shops")

/** The version of the mapping is the price of every item. */
const shopOf = (mappingVersion: number): Pipeline => ({
  ...shop,
  mappingVersion,
  read: Effect.fnUntraced(function* ({ run_id, staging }) {
    const payloads = yield* fetchAll(assignUrls(["", ""])).pipe(
      Effect.catchIf((error) => error._tag !== "RawFileDamaged", Effect.die)
    )
    const items = payloads.map((bytes) => new TextDecoder().decode(bytes))
    const rows = items.map((item) => ({ item, price: `${mappingVersion}`, seen_on: "2026-01-05", run_id }))
    yield* staging.add(price, rows)
    return { rows_read: 2, rows_skipped: 0, rows_rejected: 0, feeds: 1, left_out: [] }
  })
})

const ingest = (layout: Layout, mappingVersion: number, items: readonly [string, string], dryRun = false) =>
  ingestFromOrigin(shopOf(mappingVersion), { home: layout.home, days: undefined, dryRun }).pipe(
    Effect.map(({ run }) => run),
    Effect.provide(originOf(assignUrls(items)))
  )

/** A source that must not be asked. */
const noOrigin = Effect.provideService(
  Origin,
  Origin.of({
    kind: "live",
    open: ({ url }) => Effect.die(`${url} was requested`),
    list: () => Effect.undefined,
    retry: (attempt) => attempt
  })
)
const ingestWithoutSource = (layout: Layout, mappingVersion: number, dryRun = false) =>
  Effect.flip(ingestFromOrigin(shopOf(mappingVersion), { home: layout.home, days: undefined, dryRun })).pipe(noOrigin)

const newest = (layout: Layout) => requireNewest(layout.depot)
const readMapping = (layout: Layout) => Effect.map(newest(layout), ({ data_sets }) => data_sets.shops?.mapping)
const readPrices = (layout: Layout) =>
  Effect.map(
    queryWarehouse(layout, "select item || ' ' || price::integer as price from shops.price order by all"),
    (rows) => rows.map(({ price }) => price)
  )
const readRuns = (layout: Layout) =>
  Effect.map(
    queryWarehouse(layout, "select item, started_at from shops.price join ingest.run using (run_id) order by all"),
    (rows) => JSON.stringify(rows)
  )

/** Version 1 of the mapping made the live data in two runs. */
const madeByVersion1 = copyPerTest(
  Effect.tap(aLayout, (layout) =>
    Effect.andThen(ingest(layout, 1, ["apples", "pears"]), ingest(layout, 1, ["figs", "pears"]))
  )
)

const dropFirstRun = (layout: Layout) => rmSync(`${rawOf(layout)}/fetches/${listsOf(layout)[0]}`)
const restored = "The live data of shops was made with version 1 of its mapping. This version of Larder has version 2,"
const command = "Rebuild it from the raw archive with: npx larder-ingest rebuild shops"

describe("a run that finds the data of an older mapping", () => {
  itLive("rebuilds it with the same runs and times, then goes on", (logs) =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const before = yield* readRuns(layout)
      const run = yield* ingest(layout, 2, ["figs", "pears"])
      assert.deepInclude(run, { outcome: "unchanged", rows_loaded: 0, generation: null })
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 2", "figs 2", "pears 2"])
      assert.strictEqual(yield* readRuns(layout), before)
      assert.strictEqual(yield* readMapping(layout), 2)
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select kind, pipeline from ingest.generation order by generation"),
        ["run", "run", "rebuild", "run"].map((kind) => ({ kind, pipeline: "shops" }))
      )
      assert.deepStrictEqual(logs, [
        "Info: shops was made with version 1 of its mapping, and is rebuilt with version 2 from the raw archive: 2 runs",
        "Info: shops is rebuilt, and live in larder-000003"
      ])
      yield* ingest(layout, 2, ["plums", "pears"])
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 2", "figs 2", "pears 2", "plums 2"])
    })
  )
  itLive("changes nothing as a dry run, and names the command", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const before = yield* newest(layout)
      const { message } = yield* ingestWithoutSource(layout, 2, true)
      assert.include(message, restored)
      assert.include(message, command)
      assert.deepStrictEqual(yield* newest(layout), before)
    })
  )
  itLive("refuses before it fetches anything if the archive lacks a run, until a person rebuilds without it", (logs) =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const first = listsOf(layout)[0]?.replace(".ndjson", "")
      dropFirstRun(layout)
      const lacking = `${rawOf(layout)} lacks 1 of the 2 runs that published the live data of shops (${first})`
      const { message } = yield* ingestWithoutSource(layout, 2)
      assert.include(message, restored)
      assert.include(
        message,
        `${lacking}. Copy these runs into it from a backup, or from the machine that fetched them`
      )
      assert.isTrue(message.endsWith(`A rebuild without them loses the rows that only they have. ${command}`), message)
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 1", "figs 1", "pears 1"])
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select outcome from ingest.run order by recorded_in"),
        ["published", "published", "failed"].map((outcome) => ({ outcome }))
      )
      assert.deepStrictEqual(logs, [])

      yield* rebuildDataSet(shopOf(2), layout)
      assert.deepStrictEqual(logs, [`Warn: ${lacking}: the rebuilt data set is without the rows that only they have`])
      assert.deepStrictEqual(yield* readPrices(layout), ["figs 2", "pears 2"])
      yield* ingest(layout, 3, ["plums", "pears"]) // the run that was lost no longer counts
      assert.deepStrictEqual(yield* readPrices(layout), ["figs 3", "pears 3", "plums 3"])
      yield* rollback(layout, { to: Option.some(2), only: Option.none(), note: Option.none() })
      assert.include((yield* ingestWithoutSource(layout, 3)).message, "lacks 1 of the 2 runs")
    })
  )
  itLive("refuses if it has no archive, as on a machine that only pulled the data", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      rmSync(rawOf(layout), { recursive: true })
      assert.include(
        (yield* ingestWithoutSource(layout, 2)).message,
        "has no run of it. Restore the archive from a backup"
      )
      assert.strictEqual(yield* readMapping(layout), 1)
    })
  )
  itLive("refuses if a payload is lost, and names it", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      rmSync(`${rawOf(layout)}/${plainName("apples")}`)
      const { message } = yield* ingestWithoutSource(layout, 2)
      assert.include(message, restored)
      assert.match(
        message,
        /The archived payload \S+ is missing, with and without the ending \.zst\. Restore that file from a backup first\./
      )
      assert.include(message, command)
      assert.strictEqual(yield* readMapping(layout), 1)
      assert.deepStrictEqual(readdirSync(layout.staging), [])
    })
  )
  itLive("refuses if a run that once published fails with the new mapping, and says why", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const strict = { ...shopOf(2), read: () => Effect.fail(new ReadFailed({ faults: ["apples are spoiled"] })) }
      const options = { home: layout.home, days: undefined, dryRun: false }
      const { message } = yield* Effect.flip(ingestFromOrigin(strict, options)).pipe(noOrigin)
      assert.include(
        message,
        `A run that it repeats fails: apples are spoiled. A rebuild leaves that run out. ${command}`
      )
      assert.strictEqual(yield* readMapping(layout), 1)
    })
  )
  itLive("refuses such a run until a person rebuilds without it, which warns of it", (logs) =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const first = listsOf(layout)[0]?.replace(".ndjson", "")
      const spoiled = new ReadFailed({ faults: ["apples are spoiled"] })
      const strict = (version: number): Pipeline => ({
        ...shopOf(version),
        read: (context) => (context.run_id === first ? Effect.fail(spoiled) : shopOf(version).read(context))
      })
      yield* rebuildDataSet(strict(2), layout)
      assert.deepStrictEqual(logs, [
        `Warn: the run ${first} fails, and is left out of the rebuilt data set: apples are spoiled`
      ])
      assert.deepStrictEqual(yield* readPrices(layout), ["figs 2", "pears 2"])
      const all: Pipeline = { ...shopOf(3), read: () => Effect.fail(spoiled) }
      assert.strictEqual((yield* Effect.flip(rebuildDataSet(all, layout))).message, "apples are spoiled")
      assert.deepStrictEqual(yield* readPrices(layout), ["figs 2", "pears 2"])
    })
  )
  itLive("leaves out runs that were rolled back, whose payloads may be gone", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      yield* rollback(layout, { to: Option.some(1), only: Option.none(), note: Option.none() })
      rmSync(`${rawOf(layout)}/fetches/${listsOf(layout)[1]}`)
      yield* ingest(layout, 2, ["apples", "pears"])
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 2", "pears 2"])
    })
  )
  itLive("goes on if another machine rebuilds it first", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      const other = rebuildOlderMapping(shopOf(2), onAnotherMachine(layout))
      yield* rebuildOlderMapping(shopOf(2), yield* overtakeWith(layout, other))
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 2", "figs 2", "pears 2"])
      assert.strictEqual((yield* newest(layout)).number, 3)
    })
  )
})

describe("an older program", () => {
  itLive("neither publishes nor rebuilds the data of a newer mapping, and says what to update", () =>
    Effect.gen(function* () {
      const layout = yield* madeByVersion1
      yield* ingest(layout, 2, ["figs", "pears"])
      const { number } = yield* newest(layout)
      const rebuild = Effect.flip(rebuildDataSet(shopOf(1), layout))
      for (const failing of [ingestWithoutSource(layout, 1, true), rebuild, ingestWithoutSource(layout, 1)]) {
        assert.match(
          (yield* failing).message,
          /made with version 2 .* has version 1, .* Update Larder on this machine\.$/
        )
      }
      assert.deepStrictEqual(yield* readPrices(layout), ["apples 2", "figs 2", "pears 2"])
      assert.strictEqual((yield* newest(layout)).number, number + 1) // the record of the failed run
    })
  )
})
