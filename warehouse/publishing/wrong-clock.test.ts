import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, aRun, example, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import { DateTime, Effect, Option, Schema } from "effect"
import type { Layout } from "../generation/layout.ts"
import { listGenerations } from "../generation/listing.ts"
import { watchLive } from "../live/live.ts"
import type { LiveData } from "../live/open-data-sets.ts"
import { listRunIds, readLiveStates } from "../opened/runs.ts"
import { recordFailedRun } from "./record.ts"
import { rollback } from "./rollback.ts"

/** Days by which the clock of the machine was wrong in seven consecutive runs. */
const clockErrors = [0, 3650, -3650, 1, -1, 400, -400]
/** A run with the id and the times of the current clock. */
const makeRun = (pipeline: string) =>
  Effect.map(DateTime.now, (now) => {
    const at = DateTime.formatIso(now)
    return { run_id: `${at.replaceAll(/[-:.]/g, "")}-${pipeline}`, started_at: at, finished_at: at }
  })

const Price = Schema.Struct({ price: Schema.Int })
/** Serves the price of the example. */
const serve = (layout: Layout) =>
  watchLive(layout, {
    dataSets: {
      example: {
        definition: example.dataSet,
        load: ({ db }: LiveData) => db.all(Price, "select price::integer as price from example.price")
      }
    },
    assemble: (loaded: { readonly example?: ReadonlyArray<typeof Price.Type> }) =>
      Effect.succeed(loaded.example?.[0]?.price)
  })
const waitUntil = (isDone: () => boolean) =>
  Effect.gen(function* () {
    while (!isDone()) yield* Effect.sleep("10 millis")
  })

describe("a clock that is set forward and back", () => {
  itLive("does not change the order of generations: the last published one is live, and the last five are kept", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const publishDated = Effect.fnUntraced(function* (price: number) {
        const run = yield* makeRun("example")
        return yield* publishRows(layout, { prices: [{ item: "apple", price: String(price) }] }, { run })
      })
      yield* publishDated(0)
      const server = yield* serve(layout)
      for (const [index, days] of clockErrors.entries()) yield* withClockAhead(`${days} days`)(publishDated(index + 1))
      yield* waitUntil(() => server.current().model === 7)
      const { generations } = yield* listGenerations(layout)
      assert.deepStrictEqual(
        generations.filter(({ kept }) => kept).map(({ generation }) => generation),
        ["larder-000004", "larder-000005", "larder-000006", "larder-000007", "larder-000008"]
      )
      assert.deepStrictEqual(
        generations.filter(({ live }) => live).map(({ generation }) => generation),
        ["larder-000008"]
      )
      const defaults = { to: Option.none(), only: Option.none(), note: Option.none() }
      yield* withClockAhead("-800 days")(rollback(layout, defaults))
      yield* waitUntil(() => server.current().model === 6)
    })
  )
  itLive("does not change which run is the newest, or the order in which a rebuild repeats the runs", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const ids: Array<string> = []
      for (const days of clockErrors) {
        const run = aRun({
          pipeline: "commodities",
          outcome: "failed",
          ...(yield* withClockAhead(`${days} days`)(makeRun("c")))
        })
        yield* recordFailedRun(layout, { run, checks: [], leftOut: [] })
        ids.push(run.run_id)
      }
      assert.deepStrictEqual([...(yield* listRunIds(layout)).recorded], ids)
      const [commodities] = yield* readLiveStates(layout)
      assert.strictEqual(commodities?.last_run?.run_id, ids.at(-1))
    })
  )
})
