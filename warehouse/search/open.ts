/** The branded foods of a generation: records by fdc_id and the search, from the files of `build.ts`. */
import { Effect } from "effect"
import { FoodFilesDamaged } from "./files.ts"
import { textFiles } from "./indexed-columns.ts"
import { labelFile, openLabels } from "./labels.ts"
import { checkPieces, openBundle, readSearchManifest } from "./manifest.ts"
import { openFoodRecords, recordFiles } from "./records.ts"
import { type FoodFilters, search } from "./search.ts"
import { openTextColumn } from "./text-column.ts"
import { runInSlices } from "./time-slices.ts"

/** Opens the files of a generation's branded foods. Fails if one is damaged or from another build. */
export const openFoods = Effect.fn("Foods.open")(function* (folder: string) {
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
    /** The last run that changed a label; null if there is none. */
    run_id: manifest.run_id,
    /** Number of label versions. */
    foods: manifest.foods,
    /** Number of current label versions, which the search covers. */
    current: manifest.current,
    /** JSON of the categories of current labels, in order. */
    categories: manifest.categories,
    /** JSON of one label version. Takes microseconds, if the page cache has it. */
    record: (fdcId: number) => records.read(fdcId),
    /** A page of current labels as JSON, in ascending fdc_id; `next` is its last fdc_id if another page follows. */
    search: (filters: FoodFilters, after: number | undefined, limit: number) =>
      runInSlices(() => page(filters, after, limit))
  }
})

export type Foods = Effect.Success<ReturnType<typeof openFoods>>
