/** The example data set as a server watches and reads it, and generations that are published while it does. */
import { type DuckDb, type Layout, type LiveData, rollback, watchLive } from "@larder/warehouse"
import { readManifest } from "@larder/warehouse/generation/manifest.ts"
import { Effect, FileSystem, Option, Schema, type Scope } from "effect"
import { oncePerFile } from "../once-per-file.ts"
import { copyPerTest } from "./copy-per-test.ts"
import { aLayout, example, publishRows } from "./example-data-set.ts"
import { otherProcess } from "./other-process.ts"

const Days = Schema.Struct({ days: Schema.Int })
export const countDays = (db: DuckDb["Service"]) =>
  Effect.map(db.all(Days, "select count(*)::integer as days from example.delivery"), ([row]) => row?.days ?? 0)
export const priceOfDay = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(Days, "select price::integer as days from example.price where item = $item", { item: "day" }),
    ([row]) => row?.days
  )
const countRuns = (ingest: DuckDb["Service"]) =>
  Effect.map(ingest.all(Days, "select count(*)::integer as days from ingest.run"), ([row]) => row?.days ?? 0)

interface Model {
  readonly days: number
  readonly runs: number
}

/** The model has the number of days, loaded when the data changes, and the number of runs, one more per generation. */
export const watchExample = (
  layout: Layout,
  load: (data: LiveData) => Effect.Effect<number, unknown, Scope.Scope> = ({ db }) => countDays(db),
  isValid: (days: number) => boolean = () => true
) =>
  watchLive(layout, {
    dataSets: { example: { definition: example.dataSet, load } },
    assemble: ({ example: days = 0 }: { readonly example?: number }, _, ingest) =>
      isValid(days)
        ? Effect.map(countRuns(ingest), (runs): Model => ({ days, runs }))
        : Effect.fail(`no model can have ${days} days`)
  })
type Watched = Effect.Success<ReturnType<typeof watchExample>>
export const readExample = <A, E>(
  live: Watched,
  read: (db: DuckDb["Service"], days: number, id: string) => Effect.Effect<A, E>
) =>
  live.use(({ dataSet, id, model }) => {
    const db = dataSet("example")
    return db === undefined ? Effect.die("not loaded") : read(db, model.days, id)
  })

/** The file of the database that a generation has. */
export const findDatabase = Effect.fnUntraced(function* (layout: Layout, number: number) {
  const manifest = yield* readManifest(layout.depot, number)
  return layout.objectFile(manifest?.data_sets.example?.parts[0]?.sha256 ?? "")
})
export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
export const rollBack = (layout: Layout, to?: number) =>
  rollback(layout, { to: Option.fromNullishOr(to), only: Option.none(), note: Option.none() })

/** Rows of day n. A generation of day n has n deliveries, and the price is n. */
export const rowsOfDay = (day: number) => ({
  deliveries: [{ item: `day ${day}` }],
  prices: [{ item: "day", price: `${day}` }]
})
export const publishDay = (layout: Layout, day: number) => publishRows(layout, rowsOfDay(day))
export const waitUntil = (isDone: () => boolean) =>
  Effect.gen(function* () {
    while (!isDone()) yield* Effect.sleep("10 millis")
  })

/** For one test file: a home with one generation, and another process that publishes into it. */
export const publishExamples = () => {
  /** A copy of a home with a generation of day 1. */
  const oneDay = copyPerTest(Effect.tap(aLayout, (layout) => publishDay(layout, 1)))
  const publisher = oncePerFile(otherProcess({ do: "run commands" }))
  /**
   * Publishes a day in another process. A process that closes a file loses all its locks on it, including those of other
   * DuckDB instances: after a publication in this process, a test could not observe whether the server still has the
   * generation open.
   */
  const publishElsewhere = (layout: Layout, day: number) =>
    Effect.flatMap(publisher, ({ send }) => send({ do: "publish", home: layout.home, found: rowsOfDay(day) }))
  /** Whether this process has closed a generation: only then can another process open it for writing. */
  const isClosed = Effect.fnUntraced(function* (file: string) {
    yield* FileSystem.FileSystem.use((fs) => fs.chmod(file, 0o644))
    const { send } = yield* publisher
    return (yield* send({ do: "try", file })) === "free"
  })
  return { oneDay, publishElsewhere, isClosed }
}
