import { assert, describe } from "@effect/vitest"
import type { FeedLeftOut } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  aLayout,
  apples,
  pears,
  publishRows,
  queryWarehouse,
  rebuildExample
} from "@larder/test/support/warehouse/example-data-set.ts"
import { interruptAtManifest } from "@larder/test/support/warehouse/interrupt-at-manifest.ts"
import { Effect, FileSystem, Option } from "effect"
import type { Layout } from "../generation/layout.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { rollback } from "./rollback.ts"

const goBack = (layout: Layout, to?: number) =>
  rollback(layout, { to: Option.fromNullishOr(to), only: Option.none(), note: Option.none() })
const queryRuns = (layout: Layout) =>
  Effect.map(
    queryWarehouse(
      layout,
      "select run_id, generation, recorded_in, rebuilt_in, rolled_back_by from ingest.run order by run_id"
    ),
    (rows) =>
      rows.map((row) =>
        Object.values(row).map((cell) => (cell === null ? null : String(cell).replace("larder-00000", "")))
      )
  )
const queryReasons = (layout: Layout, table = "reject") =>
  Effect.map(queryWarehouse(layout, `select reason from ingest.${table} order by reason`), (rows) =>
    rows.map(({ reason }) => reason)
  )

describe("a rebuild", () => {
  itLive("records the runs that have no record, even after an earlier attempt was killed after its first run", () =>
    Effect.gen(function* () {
      const repeated = { one: { prices: [apples], rejects: ["odd"] }, two: { prices: [pears] } }
      const empty = yield* aLayout
      yield* rebuildExample(empty, repeated)
      assert.deepStrictEqual(yield* queryRuns(empty), [
        ["one", "1", "1", "1", null],
        ["two", "1", "1", "1", null]
      ])
      assert.deepStrictEqual(
        yield* queryWarehouse(empty, "select run_id, name from ingest.check_result order by run_id"),
        [
          { run_id: "one", name: "rows_accounted_for" },
          { run_id: "two", name: "rows_accounted_for" }
        ]
      )
      const interrupted = yield* aLayout
      yield* publishRows(interrupted, repeated.one, { run: { run_id: "one" } })
      yield* rebuildExample(interrupted, repeated)
      assert.deepStrictEqual(yield* queryRuns(interrupted), [
        ["one", "1", "1", "2", null],
        ["two", "2", "2", "2", null]
      ])
      for (const layout of [empty, interrupted]) {
        assert.deepStrictEqual(yield* queryReasons(layout), ["odd"])
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price order by item"), [
          { item: "apple" },
          { item: "pear" }
        ])
      }
    })
  )
  itLive(
    "that is rolled back restores the earlier records of its runs, and replaces them again when it is live again",
    () =>
      Effect.gen(function* () {
        const layout = yield* aLayout
        yield* publishRows(layout, { prices: [apples], rejects: ["as first read"] }, { run: { run_id: "one" } })
        yield* rebuildExample(layout, { one: { prices: [apples], rejects: ["as read again"] } })
        const before = [["one", "1", "1", "2", null]]
        assert.deepStrictEqual([yield* queryRuns(layout), yield* queryReasons(layout)], [before, ["as read again"]])
        yield* goBack(layout)
        assert.deepStrictEqual(
          [yield* queryRuns(layout), yield* queryReasons(layout)],
          [[["one", "1", "1", null, null]], ["as first read"]]
        )
        assert.deepStrictEqual(
          yield* queryWarehouse(layout, "select rolled_back_by from ingest.generation where kind = 'rebuild'"),
          [{ rolled_back_by: "larder-000003" }]
        )
        yield* publishRows(layout, { prices: [pears] }, { run: { run_id: "two" } }) // written to the other ingestion file
        assert.deepStrictEqual(yield* queryReasons(layout, "live_reject"), ["as first read"])
        yield* goBack(layout, 2)
        assert.deepStrictEqual(
          [yield* queryReasons(layout), yield* queryReasons(layout, "live_reject")],
          [["as read again"], ["as read again"]]
        )
        assert.deepStrictEqual(yield* queryRuns(layout), [...before, ["two", "4", "4", null, "5"]])
      })
  )
  itLive(
    "replaces what its runs left out, except feeds that could not be reached, which have no payload to repeat",
    () =>
      Effect.gen(function* () {
        const layout = yield* aLayout
        const read = (reason: string, ...feeds: ReadonlyArray<FeedLeftOut["kind"]>) =>
          feeds.map((kind): FeedLeftOut => ({ feed: kind, kind, reason }))
        const leftOut = read("as first read", "untrusted", "unreachable", "partial")
        yield* publishRows(layout, { prices: [apples] }, { run: { run_id: "one" }, leftOut })
        yield* publishRows(layout, { prices: [pears] }, { run: { run_id: "two" }, leftOut: leftOut.slice(0, 1) })
        const again = read("as read again", "untrusted", "unreachable")
        yield* rebuildExample(layout, { one: { prices: [apples] }, three: { prices: [] } }, again)
        const readLeftOut = queryWarehouse(layout, "select run_id, feed, reason from ingest.left_out order by all")
        const rebuilt = [
          { run_id: "one", feed: "unreachable", reason: "as first read" },
          { run_id: "one", feed: "untrusted", reason: "as read again" },
          { run_id: "three", feed: "unreachable", reason: "as read again" },
          { run_id: "three", feed: "untrusted", reason: "as read again" },
          { run_id: "two", feed: "untrusted", reason: "as first read" }
        ]
        assert.deepStrictEqual(yield* readLeftOut, rebuilt)
        const fs = yield* FileSystem.FileSystem
        yield* fs.remove(layout.ingestion)
        yield* refreshOpened(layout)
        assert.deepStrictEqual(yield* readLeftOut, rebuilt)
        yield* goBack(layout)
        assert.deepStrictEqual(
          (yield* readLeftOut).map(({ feed, run_id }) => `${run_id} ${feed}`),
          ["one partial", "one unreachable", "one untrusted", "two untrusted"]
        )
      })
  )
  itLive("is shown to people, and reported as live, if it is interrupted after its manifest was stored", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] }, { run: { run_id: "one" } })
      yield* interruptAtManifest(layout, (interrupted) => rebuildExample(interrupted, { one: { prices: [apples] } }))
      assert.deepStrictEqual(yield* queryRuns(layout), [["one", "1", "1", "2", null]])
      assert.deepStrictEqual(logs, [
        "Warn: the interrupt came too late: the data set is rebuilt, and larder-000002 is live"
      ])
    })
  )
})
