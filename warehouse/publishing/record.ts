/** What a run adds to what is live: the part of `ingest` that it told, and, where rows were new, the parts of its data set. */
import type { RunRecord } from "@larder/schemas/ingest.ts"
import { Effect, FileSystem, Path, Schema } from "effect"
import { type ObjectId, objectName } from "../depot/depot.ts"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  type IngestPart,
  type Manifest,
  makeGeneration,
  newestManifest
} from "../generation/manifest.ts"
import { faultOf, noteSeen, objectIdOf } from "../generation/parts.ts"
import { mergeIngestParts } from "../ingestion/part.ts"
import { eventOf, type RunTold, tellOfRun } from "../ingestion/told.ts"
import { requireKnownIngest } from "../newer-versions.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { ingestVersion } from "../tables.ts"

/** Parts of so many runs become one. */
const mergedRuns = 100

/** The same data set was rolled back, or published by another machine, since this run began to build on it. */
export class PublishedMeanwhile extends Schema.TaggedError<PublishedMeanwhile>()("PublishedMeanwhile", {
  pipeline: Schema.String
}) {
  override get message() {
    return `What is live of ${this.pipeline} changed while this run was reading or publishing. Nothing was published; run again.`
  }
}

/** Puts a file into the depot, also in the place of a damaged one, and notes that what lies there now was held to its SHA-256. */
export const putFile = Effect.fnUntraced(function* (layout: Layout, file: string) {
  const object = yield* objectIdOf(file)
  if ((yield* faultOf(layout, object)) !== undefined) yield* layout.depot.remove([objectName(object.sha256)])
  yield* layout.depot.putObject(object, file)
  yield* noteSeen(layout, object.sha256, layout.objectFile(object.sha256))
  return object
})

/** Oldest parts that become one: a hundred of single runs, or else a hundred that were merged of such. */
const mergeable = (parts: ReadonlyArray<IngestPart>) => {
  const isSingle = ({ first, last }: IngestPart) => first === last
  const single = parts.filter(isSingle)
  const merged = parts.filter((part) => !isSingle(part))
  return [single, merged].find((some) => some.length >= mergedRuns)?.slice(0, mergedRuns) ?? []
}

interface Merged {
  readonly of: ReadonlyArray<IngestPart>
  readonly part: IngestPart
}

/** Makes one part of a hundred. Whoever is overtaken meanwhile only changes the list. */
const mergeParts = Effect.fnUntraced(function* (layout: Layout, base: Manifest | undefined, folder: string) {
  const path = yield* Path.Path
  const of = mergeable(base?.ingest.parts ?? [])
  const [first] = of
  const last = of.at(-1)
  if (first === undefined || last === undefined) return undefined
  const faults = yield* Effect.forEach(of, (part) => faultOf(layout, part))
  if (faults.some((fault) => fault !== undefined)) return undefined // what is damaged is not carried on
  const file = path.join(folder, "merged.gz")
  yield* mergeIngestParts(
    of.map((part) => ({ ...part, file: layout.objectFile(part.sha256) })),
    file
  )
  const object = yield* putFile(layout, file)
  return { of, part: { ...object, first: first.first, last: last.last } } satisfies Merged as Merged
})

const withMerged = (parts: ReadonlyArray<IngestPart>, merged: Merged | undefined) => {
  if (merged === undefined) return parts
  const replaced = new Set(merged.of.map(({ sha256 }) => sha256))
  const rest = parts.filter(({ sha256 }) => !replaced.has(sha256))
  return rest.length + replaced.size === parts.length ? [merged.part, ...rest].sort((a, b) => a.first - b.first) : parts
}

/** The list of parts with one more. */
export const addPart = (base: Manifest | undefined, object: ObjectId, number: number) =>
  Effect.as(requireKnownIngest(base), {
    schema: ingestVersion,
    parts: [...(base?.ingest.parts ?? []), { ...object, first: number, last: number }]
  } satisfies Manifest["ingest"])

/** What a run makes of its data set; undefined where no row of it changed. */
export interface NewParts {
  /** What it was built on; undefined for a first load. */
  readonly base: DataSetEntry | undefined
  readonly entry: (number: number) => DataSetEntry
}

/** The same parts, and no rollback since. */
const isSame = (a: DataSetEntry | undefined, b: DataSetEntry | undefined) =>
  a?.changed_in === b?.changed_in && a?.published_in === b?.published_in

/** Makes the generation of a run. `told` is what it told, `folder` a place for files that go with the run. */
export const recordRun = Effect.fn("Generation.recordRun")(function* (
  layout: Layout,
  run: RunRecord,
  told: string,
  folder: string,
  parts?: NewParts
) {
  const { pipeline } = run
  const object = yield* putFile(layout, told)
  const { depot } = layout
  const newest = yield* newestManifest(depot)
  const merged = yield* mergeParts(layout, newest._tag === "Some" ? newest.value : undefined, folder)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const before = base?.data_sets ?? {}
    if (parts !== undefined && !isSame(before[pipeline], parts.base)) {
      return yield* new PublishedMeanwhile({ pipeline })
    }
    const ingest = yield* addPart(base, object, number)
    const change: Change = {
      event: eventOf(run),
      data_sets: parts === undefined ? before : { ...before, [pipeline]: parts.entry(number) },
      ingest: { ...ingest, parts: withMerged(ingest.parts, merged) }
    }
    return change
  })
  return yield* makeGeneration(depot, change)
})

/** Tells of a run that failed, so that it is in SQL at once. */
export const recordEnd = Effect.fnUntraced(function* (layout: Layout, told: Omit<RunTold, "hasChangedData">) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* writableDirectory(layout.dir)
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-told-" })
  const file = path.join(folder, "told.gz")
  yield* tellOfRun(file, { ...told, hasChangedData: false })
  yield* recordRun(layout, told.run, file, folder)
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`))
  )
}, Effect.scoped)
