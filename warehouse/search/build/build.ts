/** Builds the records and the search index of branded foods from their database alone. */
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { FoodCategory } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { causeText } from "../../disk.ts"
import { type DuckDb, type DuckDbError, literal } from "../../duckdb.ts"
import { startThread } from "../../thread.ts"
import { FoodFilesDamaged } from "../files.ts"
import { textColumns, textFiles } from "../indexed-columns.ts"
import { labelFile, selectLabels } from "../labels.ts"
import { KnownNutrient, writeSearchManifest } from "../manifest.ts"
import { openFoods } from "../open.ts"
import { selectRecords } from "../record-fields.ts"
import { recordFiles } from "../records.ts"
import { type Indexing, indexFiles } from "./index-files.ts"
import type { IndexingTask } from "./worker.ts"

/** Writing the files failed at a step, usually because the disk is full. */
export class FoodFilesNotWritten extends Schema.TaggedError<FoodFilesNotWritten>()("FoodFilesNotWritten", {
  step: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The search and the records of branded foods could not be written while ${this.step}: ${causeText(this.cause)}`
  }
}

const attempt = <A>(step: string, run: () => A) =>
  Effect.try({ try: run, catch: (cause) => new FoodFilesNotWritten({ step, cause }) })

/** DuckDB writes the lines, on all cores and unquoted: passing the rows through JavaScript would take minutes. */
const copyLines = (db: DuckDb["Service"], sql: string, file: string) =>
  db.run(
    `copy (${sql}) to ${literal(file)} (format csv, header false, delimiter '\t', quote '', escape '', nullstr '')`
  )

/** Lets DuckDB write rows in any order, which takes 60 % of the time and memory. */
const runUnordered = <A, E>(db: DuckDb["Service"], run: Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    db.run("set preserve_insertion_order = false"),
    () => run,
    () => db.run("reset preserve_insertion_order")
  )

const runInThread = (task: IndexingTask) =>
  Effect.callback<void, FoodFilesNotWritten>((resume) => {
    const failed = (cause: unknown) => resume(Effect.fail(new FoodFilesNotWritten({ step: "indexing them", cause })))
    const worker = startThread(new URL("./worker.ts", import.meta.url), task)
    worker.once("error", failed)
    worker.once("exit", (code) => (code === 0 ? resume(Effect.void) : failed(`the thread ended with ${code}`)))
    return Effect.promise(() => worker.terminate())
  })

/** Indexing fewer foods takes less time than starting two threads: 0.6 s of CPU. */
const maxFoodsInOneThread = 10_000

/** Blocks the event loop. */
const indexInThisThread = (indexing: Indexing, writeRecords: Effect.Effect<void, DuckDbError>) =>
  Effect.andThen(
    writeRecords,
    attempt("indexing them", () => indexFiles(indexing, () => {}))
  )

/** The ingredient texts are half of the work. One thread does the rest: there is no free core for a third. */
const indexInThreads = ({ columns, others, ...rest }: Indexing, writeRecords: Effect.Effect<void, DuckDbError>) => {
  const isIngredients = ({ column }: Indexing["columns"][number]) => column === "ingredients"
  const recordsWritten = new Int32Array(new SharedArrayBuffer(4))
  const thread = (part: Pick<Indexing, "columns" | "others">) =>
    runInThread({ indexing: { ...rest, ...part }, recordsWritten })
  const notifyThreads = Effect.sync(() => {
    Atomics.store(recordsWritten, 0, 1)
    Atomics.notify(recordsWritten, 0)
  })
  return Effect.all(
    [
      thread({ columns: columns.filter(isIngredients) }),
      thread({ columns: columns.filter((column) => !isIngredients(column)), others }),
      Effect.andThen(writeRecords, notifyThreads)
    ],
    { concurrency: 3, discard: true } // the copy does not keep all cores busy
  )
}

const Counts = Schema.Struct({ foods: Schema.Int, current: Schema.Int })
const Id = Schema.Struct({ fdc_id: Schema.NullOr(Schema.Int) })
const countFoods = `
  select
    (select count(*)::integer from branded_food.food) as foods,
    (select count(*)::integer from branded_food.current_food) as current`

const selectFirstAndLast = "select unnest([min(fdc_id), max(fdc_id)]) as fdc_id from branded_food.food"

const Loaded = Schema.Struct({ run_id: Schema.NullOr(Schema.String) })
const selectNewestRun = "select max(run_id) as run_id from branded_food.food"

/** The last run that changed a label of the database. Files of another run do not belong to it. */
export const readNewestRun = (db: DuckDb["Service"]) =>
  Effect.map(db.all(Loaded, selectNewestRun), ([newest]) => newest?.run_id ?? null)

/** Opens the folder and reads its first and last record, so that unusable files are never published. */
const verify = Effect.fnUntraced(function* (db: DuckDb["Service"], folder: string) {
  const toError = (cause: unknown) =>
    new FoodFilesNotWritten({
      step: "verifying them",
      cause: cause instanceof FoodFilesDamaged ? new Error(`${cause.file} ${cause.reason}`) : cause
    })
  const foods = yield* Effect.mapError(openFoods(folder), toError)
  for (const { fdc_id } of yield* db.all(Id, selectFirstAndLast)) {
    if (fdc_id === null) continue // the table is empty
    yield* Effect.try({
      try: () => {
        const record = foods.record(fdc_id)
        if (record === undefined) throw new Error(`${recordFiles.index} lacks the record ${fdc_id}`)
        JSON.parse(record)
      },
      catch: toError
    })
  }
}, Effect.scoped)

/** `folder` is new; nothing else uses `db`. With `useThreads`, threads do even short work: the event loop stays free. */
export const buildFoods = Effect.fn("Foods.build")(function* (
  db: DuckDb["Service"],
  folder: string,
  { useThreads = false }: { readonly useThreads?: boolean } = {}
) {
  const temporary = (name: string) => join(folder, `${name}.lines`)
  yield* attempt("making the folder", () => mkdirSync(folder))
  const [counts = { foods: 0, current: 0 }] = yield* db.all(Counts, countFoods)
  const run_id = yield* readNewestRun(db)
  const categories = yield* db.all(FoodCategory, "from branded_food.category order by category")
  const nutrients = yield* db.all(
    KnownNutrient,
    "select nutrient_id, number, name, unit from branded_food.nutrient order by nutrient_id"
  )
  yield* copyLines(db, selectLabels, temporary("labels"))
  for (const { column, select } of textColumns) yield* copyLines(db, select, temporary(column))
  const columns = textColumns.map(({ column }) => ({ column, source: temporary(column) }))
  const indexing = {
    folder,
    documents: counts.current,
    columns,
    others: { labels: temporary("labels"), foods: counts.foods }
  }
  const writeRecords = runUnordered(db, copyLines(db, selectRecords, join(folder, recordFiles.lines)))
  const useThisThread = counts.foods <= maxFoodsInOneThread && !useThreads
  yield* useThisThread ? indexInThisThread(indexing, writeRecords) : indexInThreads(indexing, writeRecords)
  yield* attempt("writing the manifest", () => {
    for (const name of ["labels", ...textColumns.map(({ column }) => column)]) rmSync(temporary(name))
    const columnFiles = textColumns.map(({ column }) => textFiles(column))
    const bundles = [recordFiles.index, labelFile, ...columnFiles.map(({ index }) => index)]
    const pieces = [recordFiles.lines, ...columnFiles.flatMap(({ postings, texts }) => [texts, postings])]
    writeSearchManifest(
      folder,
      { ...counts, run_id, categories: JSON.stringify(categories), nutrients },
      bundles,
      pieces
    )
  })
  yield* verify(db, folder)
})
