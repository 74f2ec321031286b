import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { aLayout, publishRows, withDepot } from "@larder/test/support/warehouse/example-data-set.ts"
import { DuckDb, type Layout } from "@larder/warehouse"
import { Effect } from "effect"
import { copyIngestion, SnapshotOvertaken } from "./snapshot.ts"

const publish = (layout: Layout) => publishRows(layout, { deliveries: [{ item: "a day" }] })
const published = copyPerTest(Effect.tap(aLayout, publish))

/** Publishes a new generation each time the newest manifest is read, up to `times`. */
const overtake = (layout: Layout, times: number): Layout => {
  let runs = 0
  const { depot } = layout
  const run = Effect.orDie(publish(layout)).pipe(Effect.provide(NodeServices.layer))
  const readText: typeof depot.readText = (name) =>
    Effect.tap(depot.readText(name), () => (runs++ < times ? run : Effect.void))
  return withDepot(layout, { ...depot, readText })
}

const readGenerations = (file: string) =>
  Effect.scoped(
    Effect.flatMap(DuckDb.readOnly(file), (db) => db.rows("select recorded_in from ingest.run order by recorded_in"))
  )

describe("the copy for a snapshot", () => {
  itLive("is of one generation even if another one is published after its manifest was read", () =>
    Effect.gen(function* () {
      const { ingestion, manifest } = yield* copyIngestion(overtake(yield* published, 1))
      assert.strictEqual(manifest.number, 2)
      assert.deepStrictEqual(yield* readGenerations(ingestion), [
        { recorded_in: "larder-000001" },
        { recorded_in: "larder-000002" }
      ])
    })
  )
  itLive("fails with advice if there is a newer generation each time", () =>
    Effect.gen(function* () {
      const layout = yield* published
      const error = yield* Effect.flip(copyIngestion(overtake(layout, Number.POSITIVE_INFINITY)))
      assert.instanceOf(error, SnapshotOvertaken)
      assert.match(
        error.message,
        /^No snapshot was written: what is live in \S+ changed 5 times while .+ again while no run is active\.$/
      )
    })
  )
})
