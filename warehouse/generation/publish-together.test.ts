import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { itWorks } from "../it-works-for-tests.ts"
import { otherProcess } from "../other-process-for-tests.ts"
import { aLayout, ask, publishFound } from "../pantry-for-tests.ts"
import { withPublishLock } from "./lock.ts"

const items = (name: string, count: number) => Array.from({ length: count }, (_, i) => ({ item: `${name} ${i + 1}` }))

describe("publishers in several processes at once", () => {
  itWorks("lose nothing: all rows and all runs arrive, one generation after the other", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const names = ["apple", "pear", "plum", "fig"]
      const publishers = yield* Effect.forEach(names, (name) =>
        otherProcess({ do: "publish", home: layout.home, found: { deliveries: items(name, 50) } })
      )
      const published = yield* Effect.forEach(publishers, ({ nextLine }) => nextLine, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        [...published].sort(),
        [1, 2, 3, 4].map((number) => `larder-00000${number}`)
      )
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select split_part(item, ' ', 1) as name, count(*)::integer as rows from pantry.delivery group by all order by all"
        ),
        [...names].sort().map((name) => ({ name, rows: 50 }))
      )
      assert.strictEqual((yield* ask(layout, "from ingest.run")).length, 4)
    })
  )
  itWorks("wait for the one that is publishing, whatever their order, and tell that they wait", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { deliveries: items("fig", 1) })
      const holder = yield* otherProcess({ do: "hold", file: layout.lock })
      assert.strictEqual(yield* holder.nextLine, "held")
      const publisher = yield* otherProcess({
        do: "publish",
        home: layout.home,
        found: { deliveries: items("pear", 1) }
      })
      const here = yield* Effect.forkChild(publishFound(layout, { deliveries: items("plum", 1) }))
      while (!logs.some((line) => line.includes("waiting for it"))) yield* Effect.sleep("20 millis")
      assert.strictEqual((yield* ask(layout, "from pantry.delivery")).length, 1)
      yield* holder.kill("SIGKILL")
      yield* publisher.nextLine
      while (here.pollUnsafe() === undefined) yield* Effect.sleep("20 millis")
      assert.strictEqual((yield* ask(layout, "from pantry.delivery")).length, 3)
      assert.strictEqual(logs.filter((line) => line.includes("waiting for it")).length, 1)
    })
  )
  itWorks("within one process take turns, too", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* Effect.forEach(["apple", "pear", "plum"], (name) => publishFound(layout, { deliveries: items(name, 5) }), {
        concurrency: "unbounded"
      })
      assert.strictEqual((yield* ask(layout, "from pantry.delivery")).length, 15)
      let inside = 0
      const alone = Effect.gen(function* () {
        inside++
        yield* Effect.sleep("20 millis")
        assert.strictEqual(inside--, 1)
      })
      yield* Effect.all([withPublishLock(layout, alone), withPublishLock(layout, alone)], { concurrency: 2 })
    })
  )
})

describe("an analyst who has the warehouse open", () => {
  itWorks("keeps reading one and the same generation, and finds the new one when opening again", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* publishFound(layout, { deliveries: items("apple", 10), prices: [{ item: "apple" }] })
      const analyst = yield* otherProcess({ do: "read", file: yield* fs.realPath(layout.link) })
      assert.strictEqual(yield* analyst.nextLine, "open")
      const sql =
        "select (select count(*)::integer from pantry.delivery) as rows, (select price from pantry.price) as price"
      const before = [{ rows: 10, price: "1.5000" }]
      assert.deepStrictEqual(yield* analyst.ask(sql), before)
      for (let day = 1; day <= 7; day++) {
        // After the sixth, the generation that is being read is pruned.
        yield* publishFound(layout, {
          deliveries: items(`pear ${day}`, 1),
          prices: [{ item: "apple", price: `${day}` }]
        })
        assert.deepStrictEqual(yield* analyst.ask(sql), before)
      }
      const again = yield* otherProcess({ do: "read", file: layout.link })
      assert.strictEqual(yield* again.nextLine, "open")
      assert.deepStrictEqual(yield* again.ask(sql), [{ rows: 17, price: "7.0000" }])
    })
  )
  itWorks("may open the link itself with any DuckDB, and cannot write", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { deliveries: items("apple", 1) })
      const db = yield* DuckDb.memory
      yield* db.run(`attach '${layout.link}' as larder (read_only)`)
      assert.strictEqual((yield* db.rows("from larder.pantry.delivery")).length, 1)
      yield* Effect.flip(db.run("delete from larder.pantry.delivery"))
    })
  )
})

describe("a full disk", () => {
  // Blocks of 512 bytes. A home with an empty data set takes some 2 MB; a staging file of these rows has 1 to 2 MB more.
  const found = { deliveries: items("a delivery with a long name that takes room on the disk", 40_000) }
  for (const blocks of [100, 1000, 3000]) {
    itWorks(`of ${blocks} blocks leaves the old generation live and nothing else, and the next run publishes`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* aLayout
        yield* publishFound(layout, { deliveries: items("apple", 3) })
        const before = (yield* fs.readDirectory(layout.dir)).sort()
        const publisher = yield* otherProcess(
          { do: "publish", home: layout.home, found },
          `trap '' XFSZ; ulimit -f ${blocks}`
        )
        const { code, stderr } = yield* publisher.ended
        assert.strictEqual(code, 1, stderr)
        console.log(blocks, stderr.slice(0, 700))
        assert.match(stderr, /File too large|EFBIG/)
        assert.deepStrictEqual((yield* fs.readDirectory(layout.dir)).sort(), before)
        assert.deepStrictEqual(yield* fs.readDirectory(layout.staging), [".lock"])
        assert.strictEqual((yield* ask(layout, "from pantry.delivery")).length, 3)
        yield* publishFound(layout, { deliveries: items("pear", 1) })
        assert.strictEqual((yield* ask(layout, "from pantry.delivery")).length, 4)
      })
    )
  }
})
