import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  pears,
  publishFound,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Schema } from "effect"
import { fromLive, requirePublishable } from "../live/live-data-set.ts"
import type { DataSet, Table } from "../tables/tables.ts"
import { stage } from "./staging.ts"

const withApples = copyPerTest(
  Effect.tap(aLayout, (layout) => publishFound(layout, { prices: [apples], deliveries: [{ item: "apple" }] }))
)

/** The example of another version, with another table of prices. */
const withPrice = (price: Table) => {
  const tables = example.dataSet.tables.map((table) => (table === example.price ? price : table))
  const dataSet: DataSet = { ...example.dataSet, version: 2, tables }
  return { ...example, dataSet, price }
}
const columns = "item varchar not null, price decimal(18, 4) not null, seen_on date not null, run_id varchar not null"
const priceOf = (ddl: string, fields: Schema.Struct.Fields = {}): Table => ({
  ...example.price,
  record: Schema.Struct({ ...example.price.record.fields, ...fields }).annotate({ description: "Prices of today." }),
  ddl: `create table if not exists example.price (${ddl})`
})
const coloured = withPrice(
  priceOf(`${columns}, colour varchar`, {
    colour: Schema.NullOr(Schema.String).annotate({ description: "Its colour." })
  })
)

describe("a version with another column", () => {
  itLive("adds it with its next publication if it comes last and may be null", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const seen = yield* fromLive(layout, example.dataSet, [], (db) => db.rows("select item from example.price"))
      assert.deepStrictEqual(seen, [{ item: "apple" }])
      const { run } = yield* publishFound(layout, { prices: [{ ...pears, colour: "green" }] }, { of: coloured })
      assert.deepInclude(run, { outcome: "published", rows_loaded: 1 })
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select item, price, colour from example.price order by item"),
        [
          { item: "apple", price: "1.2500", colour: null },
          { item: "pear", price: "2.0000", colour: "green" }
        ]
      )
      yield* requirePublishable(layout, coloured.dataSet)
      const again = yield* publishFound(layout, { prices: [{ ...pears, colour: "green" }] }, { of: coloured })
      assert.strictEqual(again.run.outcome, "unchanged")
      const red = yield* publishFound(layout, { prices: [{ ...apples, colour: "red" }] }, { of: coloured })
      assert.strictEqual(red.run.rows_loaded, 1)
    })
  )
})

describe("a version whose tables differ otherwise", () => {
  for (const [what, other, difference] of [
    [
      "another type",
      withPrice(priceOf(columns.replace("decimal(18, 4)", "double"))),
      "column example.price.price is 2: DECIMAL(18,4) not null there, and 2: DOUBLE not null here"
    ],
    [
      "a column that must not be null",
      withPrice(priceOf(`${columns}, colour varchar not null`)),
      "column example.price.colour is missing there, and 5: VARCHAR not null here"
    ],
    [
      "a column in another place",
      withPrice(priceOf(`colour varchar, ${columns}`)),
      "column example.price.colour is missing there, and 1: VARCHAR here"
    ],
    [
      "a missing table",
      {
        ...example,
        dataSet: {
          ...example.dataSet,
          views: [],
          tables: example.dataSet.tables.filter((table) => table !== example.delivery),
          countSourceRows: "select count(*)::integer as rows from example.price"
        }
      },
      "column example.delivery.item is 1: VARCHAR not null there, and missing here"
    ]
  ] as const) {
    itLive(`publishes nothing, and advises to rebuild: ${what}`, () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const early = yield* Effect.flip(requirePublishable(layout, other.dataSet))
        const run = aRun()
        const { staged } = yield* stage(layout, run, other.dataSet, () => Effect.void)
        const error = yield* Effect.flip(publishStaged(layout, other.dataSet, staged, run))
        assert.include(error.message, "The live data of example was published by another version of Larder: ")
        assert.include(error.message, difference)
        assert.strictEqual(early.message, error.message) // known before anything is fetched
        assert.include(error.message, "Rebuild it from the raw archive with: npx larder-ingest rebuild example")
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
      })
    )
  }
})
