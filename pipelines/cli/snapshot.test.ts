import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import { aLayout, publishFound, publishingInto } from "@larder/test/support/warehouse/pantry.ts"
import { DuckDb, type Layout } from "@larder/warehouse"
import { Effect } from "effect"
import { copyIngestion, SnapshotOvertaken } from "./snapshot.ts"

const publish = (layout: Layout) => publishFound(layout, { deliveries: [{ item: "a day" }] })
const published = copied(Effect.tap(aLayout, publish))

/** Publishes a new generation each time the newest manifest is read, up to `times`. */
const overtaken = (layout: Layout, times: number): Layout => {
  let runs = 0
  const { depot } = layout
  const run = Effect.orDie(publish(layout)).pipe(Effect.provide(NodeServices.layer))
  const readText: typeof depot.readText = (name) =>
    Effect.tap(depot.readText(name), () => (runs++ < times ? run : Effect.void))
  return publishingInto(layout, { ...depot, readText })
}

const generationsIn = (file: string) =>
  Effect.scoped(
    Effect.flatMap(DuckDb.readOnly(file), (db) => db.rows("select recorded_in from ingest.run order by recorded_in"))
  )

describe("what a snapshot is made of", () => {
  itLive("is of one generation, though another one is made after its manifest was read", () =>
    Effect.gen(function* () {
      const { ingestion, manifest } = yield* copyIngestion(overtaken(yield* published, 1))
      assert.strictEqual(manifest.number, 2)
      assert.deepStrictEqual(yield* generationsIn(ingestion), [
        { recorded_in: "larder-000001" },
        { recorded_in: "larder-000002" }
      ])
    })
  )
  itLive("is given up, with advice, where there is a newer generation each time", () =>
    Effect.gen(function* () {
      const layout = yield* published
      const error = yield* Effect.flip(copyIngestion(overtaken(layout, Number.POSITIVE_INFINITY)))
      assert.instanceOf(error, SnapshotOvertaken)
      assert.match(
        error.message,
        /^No snapshot was written: what is live in \S+ changed 5 times while .+ again when no run is alive\.$/
      )
    })
  )
})
