/** An example data set with one table for each kind of merge, in a separate warehouse. */
import { randomUUID } from "node:crypto"
import type { FeedLeftOut, RunRecord } from "@larder/schemas"
import {
  type Check,
  ConcurrentPublication,
  type DataSet,
  DuckDb,
  dataSets,
  type Layout,
  layoutOf,
  literal,
  newestManifest,
  publish,
  rebuildFrom,
  rejectTable,
  type Staging,
  stage
} from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import type { Staged } from "@larder/warehouse/publishing/staging.ts"
import type { RowValues, Table } from "@larder/warehouse/tables/tables.ts"
import { Effect, FileSystem, Path, Schema } from "effect"
import { queryDatabases } from "./analyst.ts"

const described = (description: string) => Schema.String.annotate({ description })

const Shelf = Schema.Struct({
  shelf: described("Name of the shelf."),
  position: Schema.Int.annotate({ description: "Position of the shelf, from 1." })
}).annotate({ identifier: "shelf", description: "Shelves." })

const Price = Schema.Struct({
  item: described("Item that has the price."),
  price: described("Price in dollars."),
  seen_on: described("Last day on which the price was found."),
  run_id: described("Run that loaded the price.")
}).annotate({ identifier: "price", description: "Prices of today." })

const Delivery = Schema.Struct({
  item: described("Item that was delivered."),
  delivered_on: described("Day of the delivery."),
  quantity: Schema.Int.annotate({ description: "Number of pieces." }),
  note: Schema.NullOr(Schema.String).annotate({ description: "Remark of the driver." }),
  run_id: described("Run that loaded the delivery.")
}).annotate({ identifier: "delivery", description: "Deliveries." })

const Stock = Schema.Struct({
  item: Delivery.fields.item,
  quantity: Schema.Int.annotate({ description: "Number of pieces delivered." })
}).annotate({ identifier: "stock", description: "Items in stock." })

const makeTable = (schema: string, table: Omit<Table, "schema" | "ddl">, columns: string): Table => ({
  ...table,
  schema,
  ddl: `create table if not exists ${schema}.${table.name} (${columns})`
})

/** The same tables under another name make another data set. */
export const exampleIn = (schema: string) => {
  const shelf = makeTable(
    schema,
    { name: "shelf", record: Shelf, merge: { by: "replace all", key: ["shelf"] } },
    "shelf varchar not null, position integer not null"
  )
  const price = makeTable(
    schema,
    { name: "price", record: Price, merge: { by: "replace", key: ["item"], ignoredColumns: ["seen_on"] } },
    "item varchar not null, price decimal(18, 4) not null, seen_on date not null, run_id varchar not null"
  )
  const delivery = makeTable(
    schema,
    { name: "delivery", record: Delivery, merge: { by: "append", key: ["item", "delivered_on", "note"] } },
    "item varchar not null, delivered_on date not null, quantity integer not null, note varchar, run_id varchar not null"
  )
  const dataSet: DataSet = {
    schema,
    version: 1,
    about: {
      pipeline: schema,
      title: "Example",
      description: "Items of a shop.",
      licence: "ours",
      attribution: "the shop",
      source_url: "https://shop.example",
      newest: { in: "data", table: `${schema}.price`, day: "max(seen_on)" }
    },
    tables: [shelf, price, delivery],
    views: [
      {
        schema,
        name: "stock",
        record: Stock,
        ddl: `create or replace view ${schema}.stock as
                select item, sum(quantity)::integer as quantity from ${schema}.delivery group by item`
      }
    ],
    countSourceRows: `select ((select count(*) from ${schema}.price) + (select count(*) from ${schema}.delivery))::integer as rows`
  }
  return { dataSet, shelf, price, delivery }
}
export const example = exampleIn("example")
type ExampleDataSet = ReturnType<typeof exampleIn>

/** Rows that a run found. Missing fields get values that do not matter to the tests. */
export interface Found {
  readonly shelves?: ReadonlyArray<string>
  readonly prices?: ReadonlyArray<RowValues>
  readonly deliveries?: ReadonlyArray<RowValues>
  readonly rejects?: ReadonlyArray<string>
}

const noChecks: ReadonlyArray<Check> = []

export const aRun = (run: Partial<RunRecord> = {}): RunRecord => ({
  run_id: `run-${randomUUID()}`,
  pipeline: "example",
  origin: "replay",
  outcome: "published",
  started_at: "2026-01-05T10:00:00.000Z",
  finished_at: "2026-01-05T10:00:01.000Z",
  generation: null,
  window_from: null,
  window_to: null,
  rows_read: 0,
  rows_loaded: 0,
  rows_unchanged: 0,
  rows_rejected: 0,
  message: null,
  ...run
})

const fill = (target: ExampleDataSet, run_id: string, found: Found) =>
  Effect.fnUntraced(function* (staging: Staging) {
    const { deliveries = [], prices = [], rejects = [], shelves = [] } = found
    yield* staging.add(
      target.shelf,
      shelves.map((shelf, index) => ({ shelf, position: index + 1 }))
    )
    yield* staging.add(
      target.price,
      prices.map((price) => ({ price: "1.5", seen_on: "2026-01-05", run_id, ...price }))
    )
    yield* staging.add(
      target.delivery,
      deliveries.map((delivery) => ({ delivered_on: "2026-01-05", quantity: 1, note: null, run_id, ...delivery }))
    )
    yield* staging.add(
      rejectTable,
      rejects.map((reason, index) => ({
        pipeline: target.dataSet.schema,
        feed: "shop",
        run_id,
        raw_sha256: "ab",
        position: index + 1,
        reason,
        payload: "{}"
      }))
    )
    return prices.length + deliveries.length + rejects.length
  })

/** Publishes what a run has staged, without checks. */
export const publishStaged = (layout: Layout, dataSet: DataSet, staged: Staged, run: RunRecord, mappingVersion = 1) =>
  publish({
    layout,
    dataSet,
    mappingVersion,
    staged,
    run,
    leftOut: [],
    skippedRows: 0,
    checks: noChecks,
    dryRun: false
  })

interface Publishing {
  /** By default, `example`. */
  readonly target?: ExampleDataSet
  readonly checks?: ReadonlyArray<Check>
  readonly dryRun?: boolean
  readonly acceptShrinkage?: boolean
  readonly mappingVersion?: number
  readonly leftOut?: ReadonlyArray<FeedLeftOut>
  readonly run?: Partial<RunRecord>
}

const stageAndPublish = Effect.fnUntraced(function* (
  layout: Layout,
  found: Found,
  {
    acceptShrinkage,
    checks = noChecks,
    dryRun = false,
    leftOut = [],
    mappingVersion = 1,
    target = example
  }: Publishing,
  run: RunRecord
) {
  const { filled, staged } = yield* stage(layout, run, target.dataSet, fill(target, run.run_id, found))
  return yield* publish({
    layout,
    dataSet: target.dataSet,
    mappingVersion,
    staged,
    run: { ...run, rows_read: filled, rows_rejected: found.rejects?.length ?? 0 },
    leftOut,
    skippedRows: 0,
    checks,
    acceptShrinkage,
    dryRun
  })
}, Effect.scoped)

/** A whole run: stages and publishes the rows. Repeats this if another run has published in the meantime. */
export const publishRows = (layout: Layout, found: Found, options: Publishing = {}) => {
  const run = aRun({ pipeline: (options.target ?? example).dataSet.schema, ...options.run })
  return Effect.retry(stageAndPublish(layout, found, options, run), {
    while: (error) => error instanceof ConcurrentPublication
  })
}

/** A new home, which is removed with the scope. */
export const aLayout = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* layoutOf(yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" }))
})

/** Rebuilds the data set, as if these were its runs in the raw archive. */
export const rebuildExample = Effect.fnUntraced(function* (
  layout: Layout,
  runs: Readonly<Record<string, Found>>,
  leftOut: ReadonlyArray<FeedLeftOut> = []
) {
  const since = (yield* newestManifest(layout.depot))?.data_sets.example
  const from = yield* aLayout
  for (const [run_id, found] of Object.entries(runs)) yield* publishRows(from, found, { run: { run_id }, leftOut })
  return yield* rebuildFrom({ layout, dataSet: example.dataSet, from, since })
})

/** The same warehouse with another depot, usually one that fails or observes. */
export const withDepot = (layout: Layout, depot: Depot): Layout => ({ ...layout, depot, local: depot })

/** The catalogue of a warehouse, and the files of data sets that this version does not know, such as the example. */
const listOpenedFiles = (layout: Layout) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = yield* fs.readDirectory(layout.dir)
    const inCatalogue = new Set(
      ["ingestion", ...dataSets.map(({ about }) => about.pipeline)].map((name) => `${name}.duckdb`)
    )
    return names
      .filter((name) => name.endsWith(".duckdb") && !inCatalogue.has(name))
      .map((name) => path.join(layout.dir, name))
  })

/** Rows that an analyst sees in the files that users open. */
export const queryWarehouse = (layout: Layout, sql: string) =>
  listOpenedFiles(layout).pipe(
    Effect.flatMap((files) => queryDatabases(files, sql)),
    Effect.map(([rows = []]) => rows)
  )

/** Changes a published database without the knowledge of Larder. */
export const changeDatabase = (file: string, sql: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* fs.chmod(file, 0o644)
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(file)} as changed; use changed; ${sql}`)
      yield* db.run("checkpoint changed; use memory; detach changed")
      yield* fs.chmod(file, 0o444)
    })
  )

export const apples = { item: "apple", price: "1.2500" }
export const pears = { item: "pear", price: "2.0000" }

/** A series of commodities, for tests with several data sets. */
export const butter = {
  slug: "butter",
  metric_name: "butter",
  commodity: "Butter",
  spec: null,
  market: "Chicago Mercantile Exchange",
  unit: "USD/lb",
  position: 1
}

/** Names in a folder, sorted. */
export const listFiles = (dir: string) =>
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(dir)),
    (names) => names.sort()
  )
