import { randomBytes } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { DuckDb, type Layout, withLock } from "@larder/warehouse"
import { Effect, FileSystem } from "effect"
import { itLive } from "../support/it-live.ts"
import { oncePerFile } from "../support/once-per-file.ts"
import { aLayout, exampleIn, publishRows, queryWarehouse } from "../support/warehouse/example-data-set.ts"
import { otherProcess } from "../support/warehouse/other-process.ts"
import { publishersKilled, publishersRace } from "./publishers-race.ts"

const makeItems = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ item: `${name} ${i + 1}` }))

describe("publishers at the same time", () => {
  itLive("lose no rows and no runs in three processes, and publish one generation after another", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const names = ["apple", "pear", "plum"]
      const publishers = yield* Effect.forEach(names, (name) =>
        otherProcess({ do: "publish", home: layout.home, found: { deliveries: makeItems(name, 50) } })
      )
      const published = yield* Effect.forEach(publishers, ({ nextLine }) => nextLine, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        [...published].sort(),
        [1, 2, 3].map((number) => `larder-00000${number}`)
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select split_part(item, ' ', 1) as name, count(*)::integer as rows from example.delivery group by all order by all"
        ),
        [...names].sort().map((name) => ({ name, rows: 50 }))
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select generation, outcome, rows_loaded::integer as rows_loaded from ingest.run order by generation"
        ),
        published.toSorted().map((generation) => ({ generation, outcome: "published", rows_loaded: 50 }))
      )
    })
  )
  itLive("of different data sets lose no rows and no runs of each other", () => publishersRace(10))
  itLive("publish completely or not at all when they are killed", () => publishersKilled(6))
  itLive("of different data sets do not wait for each other", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { deliveries: makeItems("fig", 1) })
      const holder = yield* otherProcess({ do: "hold", file: layout.lockOf("example") })
      assert.strictEqual(yield* holder.nextLine, "held")
      const { run } = yield* publishRows(layout, { deliveries: makeItems("wine", 1) }, { target: exampleIn("cellar") })
      assert.strictEqual(run.generation, "larder-000002")
    })
  )
  itLive("wait for the publisher that holds the lock, and log this once", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { deliveries: makeItems("fig", 1) })
      const holder = yield* otherProcess({ do: "hold", file: layout.lockOf("example") })
      assert.strictEqual(yield* holder.nextLine, "held")
      const publication = yield* Effect.forkChild(publishRows(layout, { deliveries: makeItems("plum", 1) }))
      while (!logs.some((line) => line.includes("waiting for it"))) yield* Effect.sleep("20 millis")
      assert.strictEqual((yield* queryWarehouse(layout, "from example.delivery")).length, 1)
      yield* holder.kill("SIGKILL")
      while (publication.pollUnsafe() === undefined) yield* Effect.sleep("20 millis")
      assert.strictEqual((yield* queryWarehouse(layout, "from example.delivery")).length, 2)
      assert.strictEqual(logs.filter((line) => line.includes("waiting for it")).length, 1)
    })
  )
  itLive("run one after the other within one process", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* Effect.forEach(
        ["apple", "pear", "plum"],
        (name) => publishRows(layout, { deliveries: makeItems(name, 5) }),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual((yield* queryWarehouse(layout, "from example.delivery")).length, 15)
      let inside = 0
      const exclusive = Effect.gen(function* () {
        inside++
        yield* Effect.sleep("20 millis")
        assert.strictEqual(inside--, 1)
      })
      const lock = layout.lockOf("example")
      yield* Effect.all([withLock(lock, exclusive), withLock(lock, exclusive)], { concurrency: 2 })
    })
  )
})

describe("an analyst who has the warehouse open", () => {
  itLive("keeps reading one generation during seven publications, and finds the new one when opening again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { deliveries: makeItems("apple", 10), prices: [{ item: "apple" }] })
      const analyst = yield* otherProcess({ do: "read", file: layout.dataSetFile("example") })
      assert.strictEqual(yield* analyst.nextLine, "open")
      const sql =
        "select (select count(*)::integer from example.delivery) as rows, (select price from example.price) as price"
      const before = [{ rows: 10, price: "1.5000" }]
      assert.deepStrictEqual(yield* analyst.query(sql), before)
      for (let day = 1; day <= 7; day++) {
        // After the sixth, the generation that is being read is pruned.
        yield* publishRows(layout, {
          deliveries: makeItems(`pear ${day}`, 1),
          prices: [{ item: "apple", price: `${day}` }]
        })
        assert.deepStrictEqual(yield* analyst.query(sql), before)
      }
      const steps = ["use memory", "detach larder", `attach '${layout.dataSetFile("example")}' as larder (read_only)`]
      for (const statement of [...steps, "use larder"]) yield* analyst.query(statement)
      assert.deepStrictEqual(yield* analyst.query(sql), [{ rows: 17, price: "7.0000" }])
    })
  )
  itLive("can attach the file of a data set with any DuckDB, but cannot write", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { deliveries: makeItems("apple", 1) })
      const db = yield* DuckDb.memory
      yield* db.run(`attach '${layout.dataSetFile("example")}' as larder (read_only)`)
      assert.strictEqual((yield* db.rows("from larder.example.delivery")).length, 1)
      yield* Effect.flip(db.run("delete from larder.example.delivery"))
    })
  )
})

describe("a full disk", () => {
  const makeLongItems = (count: number) =>
    makeItems("pear", count).map((row) => ({ ...row, note: randomBytes(30).toString("hex") }))
  const rows = 8_000
  const withManyRows = oncePerFile(
    Effect.tap(aLayout, (layout) => publishRows(layout, { deliveries: makeLongItems(rows) })).pipe(
      Effect.provide(NodeServices.layer)
    )
  )
  /** Publishes in a process whose files have a maximum size, which depends on the size of the database. */
  const publishWithLimit = Effect.fnUntraced(function* (
    layout: Layout,
    maxBytes: (size: number) => number,
    deliveries: ReturnType<typeof makeItems>
  ) {
    const fs = yield* FileSystem.FileSystem
    const blocks = Math.floor(maxBytes(Number((yield* fs.stat(layout.dataSetFile("example"))).size)) / 512)
    const publisher = yield* otherProcess(
      { do: "publish", home: layout.home, found: { deliveries } },
      `trap '' XFSZ; ulimit -f ${blocks}` // writing beyond it fails, as it does on a full disk
    )
    return yield* publisher.ended
  })
  const belowCurrentSize = (size: number) => size - 4096
  for (const [when, maxBytes, found, message] of [
    [
      "rows are staged",
      () => 50_000,
      makeLongItems(8_000),
      /^Cause\(\[Fail\(DuckDbError: .*Could not write file.*File too large/
    ],
    [
      "the live data is copied",
      belowCurrentSize,
      makeItems("pear", 5),
      /Publishing failed while copying the live database: EFBIG.*The disk is full: a publication needs space for a second copy of its data set\. Nothing was published; the live data is unchanged\./
    ],
    [
      "the staged rows are merged",
      (size: number) => size * 1.5,
      makeLongItems(8_000),
      /Publishing failed while (merging the staged rows|writing the new database): .*File too large.*The disk is full: .*the live data is unchanged\./
    ]
  ] as const) {
    itLive(`leaves the old generation live when ${when}`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* withManyRows
        const before = (yield* fs.readDirectory(layout.dir, { recursive: true })).sort()
        const { code, stderr } = yield* publishWithLimit(layout, maxBytes, found)
        assert.strictEqual(code, 1, stderr)
        assert.match(stderr, message)
        assert.deepStrictEqual((yield* fs.readDirectory(layout.dir, { recursive: true })).sort(), before)
        assert.deepStrictEqual(yield* fs.readDirectory(layout.staging), [])
        assert.strictEqual((yield* queryWarehouse(layout, "from example.delivery")).length, rows)
      })
    )
  }
  itLive("does not prevent the next run from publishing", () =>
    Effect.gen(function* () {
      const layout = yield* withManyRows
      assert.strictEqual((yield* publishWithLimit(layout, belowCurrentSize, makeItems("pear", 5))).code, 1)
      yield* publishRows(layout, { deliveries: makeItems("plum", 1) })
      assert.strictEqual((yield* queryWarehouse(layout, "from example.delivery")).length, rows + 1)
    })
  )
})
