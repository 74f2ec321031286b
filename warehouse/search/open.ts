/** The branded foods of a generation: records by fdc_id and the search, from the files of `build.ts`. */
import { Effect, type Scope } from "effect"
import { FoodFilesDamaged } from "./files.ts"
import { textFiles } from "./indexed-columns.ts"
import { labelFile, openLabels } from "./labels.ts"
import { checkPieces, openBundle, readSearchManifest } from "./manifest.ts"
import { openFoodRecords, recordFiles } from "./records.ts"
import { type FoodFilters, search } from "./search.ts"
import { openTextColumn } from "./text-column.ts"
import { runInSlices } from "./time-slices.ts"

interface FoodPage {
  readonly records: ReadonlyArray<string>
  readonly next: number | undefined
}

export interface Foods {
  /** The last run that changed a label; null if there is none. */
  readonly run_id: string | null
  /** Number of label versions. */
  readonly foods: number
  /** Number of current label versions, which the search covers. */
  readonly current: number
  /** JSON of one label version. Takes microseconds, if the page cache has it. */
  readonly record: (fdcId: number) => string | undefined
  /** JSON of the categories of current labels, in order. */
  readonly categories: string
  /** One page of current labels in ascending fdc_id, after `after`. Yields to other requests if it has to read much. */
  readonly search: (filters: FoodFilters, after: number | undefined, limit: number) => Effect.Effect<FoodPage>
}

/** Opens the files of a generation's branded foods. Fails if one is damaged or from another build. */
export const openFoods = Effect.fn("Foods.open")(function* (
  folder: string
): Effect.fn.Return<Foods, FoodFilesDamaged, Scope.Scope> {
  const attempt = <A>(open: () => A) =>
    Effect.try({
      try: open,
      catch: (error) =>
        error instanceof FoodFilesDamaged
          ? error
          : new FoodFilesDamaged({ file: folder, reason: `cannot be opened (${error})` })
    })
  const openFile = <A extends { close(): void }>(open: () => A) =>
    Effect.acquireRelease(attempt(open), (file) => Effect.sync(() => file.close()))
  const manifest = yield* attempt(() => readSearchManifest(folder))
  yield* attempt(() => checkPieces(folder, manifest))
  const bundle = (name: string) => openBundle(folder, manifest, name)
  const column = (name: string) => openFile(() => openTextColumn(folder, name, bundle(textFiles(name).index)))
  const records = yield* openFile(() => openFoodRecords(folder, bundle(recordFiles.index), manifest.nutrients))
  const labels = yield* attempt(() => openLabels(bundle(labelFile)))
  const columns = {
    names: yield* column("names"),
    brands: yield* column("brands"),
    ingredients: yield* column("ingredients")
  }
  const counts = [labels.ids.length, ...Object.values(columns).map((texts) => texts.documents)]
  if (records.size !== manifest.foods || counts.some((count) => count !== manifest.current)) {
    return yield* new FoodFilesDamaged({ file: "manifest.json", reason: "has other food counts than the files" })
  }
  const page = function* (filters: FoodFilters, after: number | undefined, limit: number) {
    const docs = yield* search(labels, columns, filters, after, limit + 1)
    const ids = docs.slice(0, limit).map((doc) => labels.ids[doc] ?? 0)
    const texts: Array<string> = []
    for (const id of ids) {
      const text = records.read(id)
      if (text === undefined) throw new FoodFilesDamaged({ file: recordFiles.index, reason: `lacks the label ${id}` })
      texts.push(text)
      yield
    }
    return { records: texts, next: docs.length > limit ? ids.at(-1) : undefined }
  }
  return {
    run_id: manifest.run_id,
    foods: manifest.foods,
    current: manifest.current,
    categories: manifest.categories,
    record: (fdcId) => records.read(fdcId),
    search: (filters, after, limit) => runInSlices(() => page(filters, after, limit))
  }
})
