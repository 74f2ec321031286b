import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  example,
  pears,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, Option } from "effect"
import type { Layout } from "../generation/layout.ts"
import { makeGeneration } from "../generation/manifest.ts"
import { requirePublishable } from "./live-data-set.ts"
import { rebuildFrom } from "./rebuild.ts"
import { rollback } from "./rollback.ts"

const readEntry = (layout: Layout) =>
  Effect.map(requireNewest(layout.depot), ({ data_sets }) => data_sets.example ?? assert.fail())
const readItems = (layout: Layout) => queryWarehouse(layout, "select item from example.price order by item")
const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const versions = (found: number, supported: number) =>
  `The live data of example was made with version ${found} of its mapping. This version of Larder has version ${supported}, and never mixes values of two versions. Nothing was published.`
const rebuildIt = "Rebuild it from the raw archive with: npx larder-ingest rebuild example"
const updateIt = "Update Larder on this machine."

/** Version 2 of the mapping made the live apples. */
const withApples = copyPerTest(
  Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] }, { mappingVersion: 2 }))
)

describe("rows of another version of the mapping", () => {
  for (const [mappingVersion, advice] of [
    [3, rebuildIt],
    [1, updateIt]
  ] as const) {
    itLive(`are not published to version 2, nor in a dry run: version ${mappingVersion}`, () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const sentences = `${versions(2, mappingVersion)} ${advice}`
        assert.strictEqual(yield* messageOf(requirePublishable(layout, example.dataSet, mappingVersion)), sentences)
        for (const dryRun of [false, true]) {
          const publishing = publishRows(layout, { prices: [pears] }, { mappingVersion, dryRun })
          assert.strictEqual(yield* messageOf(publishing), sentences)
        }
        assert.deepStrictEqual(yield* readItems(layout), [{ item: "apple" }])
        assert.strictEqual((yield* readEntry(layout)).mapping, 2)
      })
    )
  }
  itLive("are published if nothing is live any more", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      yield* makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        const example = { ...(data_sets.example ?? assert.fail()), parts: [] }
        return Effect.succeed({ event, ingest, data_sets: { ...data_sets, example } })
      })
      yield* publishRows(layout, { prices: [pears] }, { mappingVersion: 2 })
      assert.deepStrictEqual(yield* readItems(layout), [{ item: "pear" }])
      assert.strictEqual((yield* readEntry(layout)).mapping, 2)
    })
  )
})

describe("a manifest", () => {
  itLive("keeps the version when a run has nothing new, and returns to the earlier one with a rollback", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      yield* publishRows(layout, { prices: [apples] }, { mappingVersion: 2 })
      assert.strictEqual((yield* readEntry(layout)).mapping, 2)
      const from = yield* aLayout
      yield* publishRows(from, { prices: [pears] }, { mappingVersion: 3 })
      yield* rebuildFrom({ layout, dataSet: example.dataSet, from, since: yield* readEntry(layout) })
      assert.strictEqual((yield* readEntry(layout)).mapping, 3)
      yield* rollback(layout, { to: Option.none(), only: Option.none(), note: Option.none() })
      assert.strictEqual((yield* readEntry(layout)).mapping, 2)
    })
  )
})

describe("a rebuild", () => {
  itLive("does not replace rows of a later version of the mapping", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const from = yield* aLayout
      yield* publishRows(from, { prices: [pears] })
      const rebuild = rebuildFrom({ layout, dataSet: example.dataSet, from, since: yield* readEntry(layout) })
      assert.strictEqual(yield* messageOf(rebuild), `${versions(2, 1)} ${updateIt}`)
      assert.deepStrictEqual(yield* readItems(layout), [{ item: "apple" }])
    })
  )
})
