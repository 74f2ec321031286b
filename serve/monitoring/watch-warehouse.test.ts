import { mkdirSync, renameSync, rmSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { waitUntil } from "@larder/test/support/warehouse/live-example.ts"
import { publishReads } from "@larder/test/support/warehouse/store-reads.ts"
import { recordFailedRun, watchLive } from "@larder/warehouse"
import { Clock, Duration, Effect } from "effect"
import { makeReadModel } from "../api/index.ts"
import { watchWarehouse } from "./watch-warehouse.ts"

/** A warehouse with one store, a server's state of it, and its clock, which the test sets: the second between two looks passes in 5 ms. */
const watchStore = Effect.gen(function* () {
  const layout = yield* aLayout
  yield* publishReads(layout, { day: 2, store: "platform_store_a" })
  const live = yield* watchLive(layout, makeReadModel(layout, []))
  const real = yield* Clock.clockWith(Effect.succeed)
  let now = Date.parse("2026-02-01T10:00:00.000Z")
  const clock: Clock.Clock = {
    ...real,
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: () => BigInt(now) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) =>
      real.sleep(Duration.isGreaterThan(duration, Duration.seconds(1)) ? duration : Duration.millis(5))
  }
  const { current } = yield* Effect.provideService(watchWarehouse(layout, live), Clock.Clock, clock)
  return { layout, live, current, pass: (seconds: number) => Effect.sync(() => (now += seconds * 1000)) }
})

describe("what a server knows about its warehouse", () => {
  itLive("is read at once, again after a minute, and not before unless there is a new generation", () =>
    Effect.gen(function* () {
      const { current, layout, pass } = yield* watchStore
      const listStores = () => current().freshness.filter(({ kind }) => kind === "store")
      assert.deepStrictEqual(
        [listStores().map(({ state }) => state), current().read_at],
        [["late"], "2026-02-01T10:00:00.000Z"]
      )
      yield* pass(59)
      yield* Effect.sleep("100 millis") // twenty looks
      assert.strictEqual(current().read_at, "2026-02-01T10:00:00.000Z")
      yield* pass(1)
      yield* waitUntil(() => current().read_at === "2026-02-01T10:01:00.000Z")
      yield* pass(1)
      yield* publishReads(layout, { day: 3, store: "platform_store_b" })
      yield* waitUntil(() => listStores().length === 2)
      assert.strictEqual(current().read_at, "2026-02-01T10:01:01.000Z")
    })
  )

  itLive("counts a feed once that lacks a part, and that the last run could not reach either", () =>
    Effect.gen(function* () {
      const { current, layout, pass } = yield* watchStore
      for (const [run_id, kind] of [
        ["1", "partial"],
        ["2", "unreachable"]
      ] as const) {
        const run = aRun({ run_id, pipeline: "commodities", origin: "live", outcome: "partial", rows_read: 9 })
        yield* recordFailedRun(layout, { run, checks: [], leftOut: [{ feed: "gov-mars/1603", kind, reason: "so" }] })
      }
      yield* pass(60)
      yield* waitUntil(() => (current().left_out ?? []).length > 0)
      assert.deepStrictEqual(current().left_out, [{ pipeline: "commodities", feed: "gov-mars/1603" }])
    })
  )

  itLive("stays as it was if it cannot be read, with the fault, until it can be, but has the newest runs", () =>
    Effect.gen(function* () {
      const { current, layout, pass } = yield* watchStore
      const { freshness, read_at } = current()
      const aside = `${layout.catalogue}.aside`
      renameSync(layout.catalogue, aside)
      mkdirSync(path.join(layout.catalogue, "in the way"), { recursive: true })
      const run = aRun({ run_id: "1", pipeline: "commodities", outcome: "failed" })
      yield* recordFailedRun(layout, { run, checks: [], leftOut: [] })
      yield* waitUntil(() => current().failures === 1)
      assert.strictEqual(current().pipelines[0]?.last_run?.outcome, "failed")
      assert.match(current().fault ?? "", /larder\.duckdb/)
      assert.deepStrictEqual([current().read_at, current().freshness], [read_at, freshness])
      rmSync(layout.catalogue, { recursive: true })
      renameSync(aside, layout.catalogue)
      yield* pass(60)
      yield* waitUntil(() => current().fault === undefined)
      assert.strictEqual(current().failures, 1)
    })
  )
})
