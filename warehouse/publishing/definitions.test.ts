import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  publishRows,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { withColumn, withDefinition, withoutTable } from "@larder/test/support/warehouse/other-versions.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect } from "effect"
import { readLive, requirePublishable } from "./live-data-set.ts"
import { rebuildFrom } from "./rebuild.ts"
import { stage } from "./staging.ts"

const withApples = copyPerTest(
  Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples], deliveries: [{ item: "apple" }] }))
)
const refusal =
  "example was published by another version of Larder, with other tables or views, and no version converts them. Rebuild it from the raw archive with: npx larder-ingest rebuild example"
const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

const noDelivery = {
  ...withoutTable(example.dataSet, "delivery"),
  views: [],
  countSourceRows: "select count(*)::integer as rows from example.price"
}

describe("a data set of an earlier version", () => {
  for (const [change, dataSet] of [
    ["an added column", withColumn(example.dataSet, "price", "colour")],
    ["a changed type", withDefinition(example.dataSet, "price", "decimal(18, 4)", "double")],
    ["a removed table", noDelivery],
    ["a removed view", { ...example.dataSet, views: [] }]
  ] as const) {
    itLive(`is neither read nor added to, and the error names the rebuild: ${change}`, () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const run = aRun()
        const { staged } = yield* stage(layout, run, dataSet, () => Effect.void)
        assert.strictEqual(yield* messageOf(requirePublishable(layout, dataSet, 1)), refusal) // before a run fetches
        assert.strictEqual(yield* messageOf(readLive(layout, dataSet, [], (db) => db.rows("select 1"))), refusal)
        assert.include(yield* messageOf(publishStaged(layout, dataSet, staged, run)), refusal)
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
      })
    )
  }
  itLive("is replaced by a rebuild", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const dataSet = withColumn(example.dataSet, "price", "colour")
      const price = dataSet.tables.find(({ name }) => name === "price") ?? assert.fail()
      const target = { ...example, dataSet, price }
      const since = (yield* requireNewest(layout.depot)).data_sets.example
      const rebuilt = yield* aLayout
      yield* publishRows(rebuilt, { prices: [{ ...apples, colour: "green" }] }, { target })
      yield* rebuildFrom({ layout, dataSet, from: rebuilt, since })
      const rows = yield* readLive(layout, dataSet, [], (db) => db.rows("select item, colour from example.price"))
      assert.deepStrictEqual(rows, [{ item: "apple", colour: "green" }])
    })
  )
  itLive("is read and added to if only descriptions have changed", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const tables = example.dataSet.tables.map((table) => ({
        ...table,
        record: table.record.annotate({ description: "Another description." })
      }))
      yield* requirePublishable(layout, { ...example.dataSet, tables }, 1)
    })
  )
})
