import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  example,
  pears,
  publishRows,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, Schema } from "effect"
import type { DataSet, Table } from "../tables/tables.ts"
import { readLive, requirePublishable } from "./live-data-set.ts"
import { stage } from "./staging.ts"

const withApples = copyPerTest(
  Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples], deliveries: [{ item: "apple" }] }))
)

/** The example in version 2, with a changed table of prices. */
const withPrice = (price: Table) => {
  const tables = example.dataSet.tables.map((table) => (table === example.price ? price : table))
  const dataSet: DataSet = { ...example.dataSet, version: 2, tables }
  return { ...example, dataSet, price }
}
const columns = "item varchar not null, price decimal(18, 4) not null, seen_on date not null, run_id varchar not null"
const makePriceTable = (ddl: string, fields: Schema.Struct.Fields = {}): Table => ({
  ...example.price,
  record: Schema.Struct({ ...example.price.record.fields, ...fields }).annotate({ description: "Prices of today." }),
  ddl: `create table if not exists example.price (${ddl})`
})
const withColour = withPrice(
  makePriceTable(`${columns}, colour varchar`, {
    colour: Schema.NullOr(Schema.String).annotate({ description: "Its colour." })
  })
)

describe("a version with an additional column", () => {
  itLive("adds the column with its next publication if it is nullable and comes last", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const rows = yield* readLive(layout, example.dataSet, [], (db) => db.rows("select item from example.price"))
      assert.deepStrictEqual(rows, [{ item: "apple" }])
      const { run } = yield* publishRows(layout, { prices: [{ ...pears, colour: "green" }] }, { target: withColour })
      assert.deepInclude(run, { outcome: "published", rows_loaded: 1 })
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select item, price, colour from example.price order by item"),
        [
          { item: "apple", price: "1.2500", colour: null },
          { item: "pear", price: "2.0000", colour: "green" }
        ]
      )
      yield* requirePublishable(layout, withColour.dataSet, 1)
      const repeated = yield* publishRows(layout, { prices: [{ ...pears, colour: "green" }] }, { target: withColour })
      assert.strictEqual(repeated.run.outcome, "unchanged")
      const red = yield* publishRows(layout, { prices: [{ ...apples, colour: "red" }] }, { target: withColour })
      assert.strictEqual(red.run.rows_loaded, 1)
    })
  )
})

describe("a version with other differences in its tables", () => {
  for (const [change, other, difference] of [
    [
      "a changed type",
      withPrice(makePriceTable(columns.replace("decimal(18, 4)", "double"))),
      "column example.price.price is DECIMAL(18,4) not null at position 2 in the live data, but DOUBLE not null at position 2 in this version"
    ],
    [
      "an additional column that is not nullable",
      withPrice(makePriceTable(`${columns}, colour varchar not null`)),
      "column example.price.colour is missing in the live data, but VARCHAR not null at position 5 in this version"
    ],
    [
      "an additional column at the first position",
      withPrice(makePriceTable(`colour varchar, ${columns}`)),
      "column example.price.colour is missing in the live data, but VARCHAR at position 1 in this version"
    ],
    [
      "a removed table",
      {
        ...example,
        dataSet: {
          ...example.dataSet,
          views: [],
          tables: example.dataSet.tables.filter((table) => table !== example.delivery),
          countSourceRows: "select count(*)::integer as rows from example.price"
        }
      },
      "column example.delivery.item is VARCHAR not null at position 1 in the live data, but missing in this version"
    ]
  ] as const) {
    itLive(`publishes nothing and advises a rebuild: ${change}`, () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const earlyError = yield* Effect.flip(requirePublishable(layout, other.dataSet, 1))
        const run = aRun()
        const { staged } = yield* stage(layout, run, other.dataSet, () => Effect.void)
        const error = yield* Effect.flip(publishStaged(layout, other.dataSet, staged, run))
        assert.include(error.message, "The live data of example was published by another version of Larder: ")
        assert.include(error.message, difference)
        assert.strictEqual(earlyError.message, error.message) // reported before anything is fetched
        assert.include(error.message, "Rebuild it from the raw archive with: npx larder-ingest rebuild example")
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
      })
    )
  }
})
