import { randomUUID } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  aLayout,
  apples,
  exampleIn,
  pears,
  publishRows,
  queryWarehouse,
  withDepot
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, FileSystem } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { Layout } from "./layout.ts"
import { type Change, makeGeneration, manifestName, newestManifest, readManifest } from "./manifest.ts"

const cellar = exampleIn("cellar")

/** The same warehouse, in which `other` runs just before the first manifest is stored. */
const runBeforePut = <E, R>(layout: Layout, other: Effect.Effect<unknown, E, R>) =>
  Effect.map(Effect.context<R>(), (context): Layout => {
    let isFirst = true
    const putText: Depot["putText"] = (name, text) => {
      const first = isFirst
      isFirst = false
      const before = first ? Effect.orDie(Effect.provideContext(other, context)) : Effect.void
      return Effect.andThen(before, layout.depot.putText(name, text))
    }
    return withDepot(layout, { ...layout.depot, putText })
  })

const emptyChange: Change = {
  event: {
    kind: "run",
    pipeline: null,
    run_id: null,
    outcome: null,
    rows_loaded: null,
    went_back_to: null,
    note: null
  },
  data_sets: {},
  ingest: { schema: 1, parts: [] }
}

describe("a generation", () => {
  itLive("gets the next number if another program was faster, and no data or records are lost", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const slow = yield* runBeforePut(
        layout,
        publishRows(layout, { prices: [pears] }, { target: cellar, run: { run_id: "fast" } })
      )
      const { run } = yield* publishRows(slow, { prices: [{ ...apples, price: "3" }] }, { run: { run_id: "slow" } })
      assert.strictEqual(run.generation, "larder-000003")
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select p.price, c.item from example.price p, cellar.price c"),
        [{ price: "3.0000", item: "pear" }]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select run_id, generation, recorded_in from ingest.run where run_id in ('fast', 'slow') order by all"
        ),
        [
          { run_id: "fast", generation: "larder-000002", recorded_in: "larder-000002" },
          { run_id: "slow", generation: "larder-000003", recorded_in: "larder-000003" }
        ]
      )
    })
  )
  itLive("is made again if another machine has published the same data set first, and no data is lost", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const otherMachine = { ...layout, lockOf: (name: string) => `${layout.lockOf(name)}.other` }
      const slow = yield* runBeforePut(layout, publishRows(otherMachine, { prices: [pears] }))
      const { run } = yield* publishRows(slow, { prices: [{ ...apples, price: "3" }] })
      assert.strictEqual(run.generation, "larder-000003")
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select item, price from example.price order by item"), [
        { item: "apple", price: "3.0000" },
        { item: "pear", price: "2.0000" }
      ])
    })
  )
  itLive("is made once if the response is lost", () =>
    Effect.gen(function* () {
      const { depot } = yield* aLayout
      const lossy: Depot = { ...depot, putText: (name, text) => Effect.as(depot.putText(name, text), false) }
      const manifest = yield* makeGeneration(lossy, () => Effect.succeed(emptyChange))
      assert.strictEqual(manifest.number, 1)
      assert.deepStrictEqual(yield* newestManifest(depot), manifest)
    })
  )
  itLive("has a unique number if thirty are made concurrently", () =>
    Effect.gen(function* () {
      const { depot } = yield* aLayout
      const manifests = yield* Effect.forEach(
        Array.from({ length: 30 }, () => randomUUID()),
        (run_id) =>
          makeGeneration(depot, () => Effect.succeed({ ...emptyChange, event: { ...emptyChange.event, run_id } })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        manifests.map(({ number }) => number).sort((a, b) => a - b),
        Array.from({ length: 30 }, (_, index) => index + 1)
      )
      for (const { event, number } of manifests) {
        assert.deepStrictEqual((yield* readManifest(depot, number))?.event, event)
      }
    })
  )
})

describe("a manifest that cannot be used", () => {
  itLive("stops runs if an earlier version wrote it, and says how to rebuild the warehouse", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const file = `${layout.dir}/${manifestName(1)}`
      const earlier = (yield* fs.readFileString(file)).replace('"format":2', '"format":1')
      yield* fs.remove(file)
      yield* fs.writeFileString(file, earlier)
      const error = yield* Effect.flip(publishRows(layout, { prices: [pears] }))
      assert.match(
        error.message,
        /^generations\/000000001\.json in .+ was written by an earlier version of Larder, and no version converts it\. Nothing was changed\. Move the warehouse aside, and rebuild it from the raw archive with: npx larder-ingest rebuild$/
      )
      assert.strictEqual(yield* fs.readFileString(file), earlier)
    })
  )
  for (const [what, text, message] of [
    [
      "of a newer version",
      '{"format": 9, "number": 1}',
      /was written by a newer version of Larder\. Update Larder on this machine/
    ],
    ["that is truncated", '{"format": 2, "num', /is damaged\. Restore it from a backup; nothing was changed\./],
    ["with a different number", JSON.stringify({ format: 2, number: 7 }), /is damaged/]
  ] as const) {
    itLive(`stops runs and says what to do: ${what}`, () =>
      Effect.gen(function* () {
        const layout = yield* aLayout
        yield* layout.depot.putText(manifestName(1), text)
        const error = yield* Effect.flip(publishRows(layout, { prices: [apples] }))
        assert.include(error.message, "generations/000000001.json in ")
        assert.match(error.message, message)
      })
    )
  }
})
