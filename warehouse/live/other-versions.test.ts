import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  example,
  exampleIn,
  pears,
  publishRows
} from "@larder/test/support/warehouse/example-data-set.ts"
import { waitUntil } from "@larder/test/support/warehouse/live-example.ts"
import { withColumn } from "@larder/test/support/warehouse/other-versions.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Clock, Effect, Fiber, FileSystem, Schema } from "effect"
import type { Layout } from "../generation/layout.ts"
import { rebuildFrom } from "../publishing/rebuild.ts"
import type { DataSet } from "../tables/tables.ts"
import { watchLive } from "./live.ts"
import type { LiveData } from "./open-data-sets.ts"

const cellar = exampleIn("cellar")
const published = copyPerTest(
  Effect.tap(aLayout, (layout) =>
    Effect.andThen(
      publishRows(layout, { prices: [apples], deliveries: [{ item: "apple" }] }),
      publishRows(layout, { prices: [{ item: "wine" }] }, { target: cellar })
    )
  )
)

const Items = Schema.Struct({ items: Schema.String })
const readItems = ({ db }: Pick<LiveData, "db">, schema: string) =>
  Effect.map(db.all(Items, `select string_agg(item, ',' order by item) as items from ${schema}.price`), ([row]) =>
    String(row?.items)
  )

interface Model {
  readonly example?: string
  readonly cellar?: string
}

/** A server of the version that has this example. The model is the items that have a price. */
const serve = (layout: Layout, dataSet: DataSet = example.dataSet) =>
  watchLive(layout, {
    dataSets: {
      example: { definition: dataSet, load: (data: LiveData) => readItems(data, "example") },
      cellar: { definition: cellar.dataSet, load: (data: LiveData) => readItems(data, "cellar") }
    },
    assemble: (loaded: Model) => Effect.succeed(loaded)
  })
type Server = Effect.Success<ReturnType<typeof serve>>

/** Reads from a server repeatedly. Returns an effect that stops the reads and returns all distinct results. */
const readRepeatedly = Effect.fnUntraced(function* (server: Server) {
  const results = new Set<string>()
  const read = server.use(({ dataSet, model }) =>
    Effect.gen(function* () {
      const db = dataSet("example")
      const items = db === undefined ? "nothing" : yield* readItems({ db }, "example")
      results.add(`${model.example} ${items} ${model.cellar}`)
      yield* Effect.sleep("5 millis")
    })
  )
  let isStopped = false
  const readers = yield* Effect.forkChild(Effect.repeat(read, { while: () => !isStopped }))
  return Effect.suspend(() => {
    isStopped = true
    return Effect.as(Fiber.join(readers), [...results])
  })
})

const exampleWith = (dataSet: DataSet) => ({
  ...example,
  dataSet,
  price: dataSet.tables.find(({ name }) => name === "price") ?? example.price
})
const withColour = withColumn(example.dataSet, "price", "colour")
const describeFault = (number: number) => `example of larder-00000${number} cannot be served`
const rebuildIt =
  "example was published by another version of Larder, with other tables or views, and no version converts them. Rebuild it from the raw archive with: npx larder-ingest rebuild example"
const updateLarder =
  "example was published with tables of version 2, and this version of Larder supports versions up to 1. Update Larder on this machine, servers first."

describe("a data set of an earlier version", () => {
  itLive("is not served until it is rebuilt, which the fault says, and the others are served", (logs) =>
    Effect.gen(function* () {
      const layout = yield* published
      const oldServer = yield* serve(layout)
      const stopReads = yield* readRepeatedly(oldServer)
      const server = yield* serve(layout, withColour)
      const fault = `${describeFault(1)} (${rebuildIt})`
      assert.deepStrictEqual([server.current().model, server.fault()], [{ cellar: "wine" }, fault])
      assert.deepStrictEqual([...server.unserved()], ["example"])
      assert.isTrue(logs.some((line) => line.includes(`${describeFault(1)}; nothing is served instead`)))
      const rebuilt = yield* aLayout
      yield* publishRows(rebuilt, { prices: [apples, pears] }, { target: exampleWith(withColour) })
      const since = (yield* requireNewest(layout.depot)).data_sets.example
      yield* rebuildFrom({ layout, dataSet: withColour, from: rebuilt, since })
      yield* waitUntil(() => server.swaps() === 1 && oldServer.fault() !== undefined)
      assert.deepStrictEqual(
        [server.current().model, server.fault()],
        [{ example: "apple,pear", cellar: "wine" }, undefined]
      )
      assert.strictEqual(oldServer.fault(), `${describeFault(3)} (${updateLarder})`)
      assert.deepStrictEqual(yield* stopReads, ["apple apple wine"])
    })
  )
})

describe("a start on a data set that cannot be served", () => {
  itLive("serves the others, and retries it after a minute, even if the clock is changed", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* published
      const entry = (yield* requireNewest(layout.depot)).data_sets.example
      const file = layout.objectFile(entry?.parts[0]?.sha256 ?? "")
      yield* fs.rename(file, `${file}.away`)
      let elapsed = 0n
      const clock = yield* Clock.clockWith(Effect.succeed)
      const server = yield* serve(layout).pipe(
        Effect.provideService(Clock.Clock, {
          currentTimeMillisUnsafe: () => 0, // set back to 1970
          currentTimeMillis: Effect.succeed(0),
          currentTimeNanosUnsafe: () => 0n,
          currentTimeNanos: Effect.succeed(0n),
          monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + elapsed,
          monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + elapsed),
          sleep: (duration) => clock.sleep(duration)
        })
      )
      assert.deepStrictEqual([server.current().model, server.fault()], [{ cellar: "wine" }, describeFault(1)])
      assert.strictEqual(server.current().dataSet("example"), undefined)
      assert.isTrue(logs.some((line) => line.includes(`${describeFault(1)}; nothing is served instead`)))
      yield* fs.rename(`${file}.away`, file)
      elapsed = 61_000_000_000n
      yield* waitUntil(() => server.swaps() === 1)
      assert.deepStrictEqual(
        [server.current().model, server.fault()],
        [{ example: "apple", cellar: "wine" }, undefined]
      )
    })
  )
  for (const [version, publisher, server, message] of [
    ["an earlier version", example.dataSet, withColour, rebuildIt],
    ["a newer version", withColour, example.dataSet, updateLarder]
  ] as const) {
    itLive(`fails if nothing else can be served, with the data set's own message: data of ${version}`, () =>
      Effect.gen(function* () {
        const layout = yield* aLayout
        yield* publishRows(layout, { prices: [apples] }, { target: exampleWith(publisher) })
        const error = yield* Effect.flip(serve(layout, server))
        assert.strictEqual(error instanceof Error && error.message, message)
      })
    )
  }
})
