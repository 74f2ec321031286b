/** The branded foods of a generation: records by fdc_id and the search, from the files of `build.ts`. */
import { join } from "node:path"
import { Effect } from "effect"
import { causeText } from "../disk.ts"
import { FoodFilesDamaged, PieceFile } from "./files.ts"
import { textFiles } from "./indexed-columns.ts"
import { labelFile, makeLabels } from "./labels.ts"
import { checkPieces, openBundle, readSearchManifest } from "./manifest.ts"
import { makeFoodRecords, recordFiles } from "./records.ts"
import { type FoodFilters, search } from "./search.ts"
import { makeTextColumn } from "./text-column.ts"
import { runInSlices } from "./time-slices.ts"

/** Opens the files of a folder. Adds those that are read in pieces to `opened`, for the caller to close. */
export const openFiles = (folder: string, opened: Array<PieceFile>) => {
  const manifest = readSearchManifest(folder)
  checkPieces(folder, manifest)
  const bundle = (name: string) => openBundle(folder, manifest, name)
  const pieces = (name: string) => {
    const file = new PieceFile(join(folder, name))
    opened.push(file)
    return file
  }
  const column = (name: string) => {
    const files = textFiles(name)
    return makeTextColumn(bundle(files.index), pieces(files.texts), pieces(files.postings))
  }
  const records = makeFoodRecords(bundle(recordFiles.index), pieces(recordFiles.lines), manifest.nutrients)
  const labels = makeLabels(bundle(labelFile))
  const columns = { names: column("names"), brands: column("brands"), ingredients: column("ingredients") }
  const counts = [labels.ids.length, ...Object.values(columns).map((texts) => texts.documents)]
  if (records.size !== manifest.foods || counts.some((count) => count !== manifest.current)) {
    throw new FoodFilesDamaged({ file: "manifest.json", reason: "has food counts that differ from those of the files" })
  }
  return { manifest, records, labels, columns }
}

/** The file of a system error. */
const findPath = (error: unknown) =>
  error instanceof Error && "path" in error && typeof error.path === "string" ? error.path : undefined

/** Opens the files of a generation's branded foods. Fails if one is damaged or from another build. */
export const openFoods = Effect.fn("Foods.open")(function* (folder: string) {
  const opened: Array<PieceFile> = []
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const file of opened) file.close()
    })
  )
  const { columns, labels, manifest, records } = yield* Effect.try({
    try: () => openFiles(folder, opened),
    catch: (error) =>
      error instanceof FoodFilesDamaged
        ? error
        : new FoodFilesDamaged({ file: findPath(error) ?? folder, reason: `cannot be opened (${causeText(error)})` })
  })
  const page = function* (filters: FoodFilters, after: number | undefined, limit: number) {
    const docs = yield* search(labels, columns, filters, after, limit + 1)
    const ids = docs.slice(0, limit).map((doc) => labels.ids[doc] ?? 0)
    const pageRecords: Array<string> = []
    for (const id of ids) {
      const record = records.read(id)
      if (record === undefined) throw new FoodFilesDamaged({ file: recordFiles.index, reason: `lacks the label ${id}` })
      pageRecords.push(record)
      yield
    }
    return { records: pageRecords, next: docs.length > limit ? ids.at(-1) : undefined }
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
