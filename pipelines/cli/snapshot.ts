/** `larder-ingest snapshot`: all live data as one ordinary DuckDB file, for another machine or an older DuckDB. */
import path from "node:path"
import {
  findReadable,
  generationId,
  isLoaded,
  type Layout,
  listNumbers,
  NoWarehouse,
  newestManifest,
  pull,
  refreshOpened,
  verifyDataSet,
  writeSnapshot
} from "@larder/warehouse"
import { Console, Effect, FileSystem, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { openHome } from "../run/run.ts"
import { formatKibibytes, jsonFlag, quietFlag, quietly } from "./flags.ts"

const maxAttempts = 5

export class SnapshotOvertaken extends Schema.TaggedError<SnapshotOvertaken>()("SnapshotOvertaken", {
  dir: Schema.String
}) {
  override get message() {
    return `No snapshot was written: what is live in ${this.dir} changed ${maxAttempts} times while its records were copied. Take the snapshot again while no run is active.`
  }
}

/**
 * Returns the live manifest and a copy of `ingestion.duckdb` of the same generation. Takes no lock, because this user
 * may lack the permission. If another generation is published in the meantime, reads both again.
 */
export const copyIngestion = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const ingestion = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-snapshot-" }), "ingestion.duckdb")
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const manifest = yield* newestManifest(layout.local)
    if (manifest === undefined || !Object.values(manifest.data_sets).some(isLoaded)) {
      return yield* new NoWarehouse({ dir: layout.dir })
    }
    yield* refreshOpened(layout) // a run may have been killed before it did this
    yield* fs.remove(ingestion, { force: true }) // the copy of an earlier attempt is read-only
    yield* fs.copyFile(layout.ingestion, ingestion)
    if ((yield* listNumbers(layout.local)).at(-1) === manifest.number) return { manifest, ingestion }
  }
  return yield* new SnapshotOvertaken({ dir: layout.dir })
})

const takeSnapshot = Effect.fnUntraced(function* (to: string) {
  const fs = yield* FileSystem.FileSystem
  const layout = yield* openHome
  yield* pull(layout)
  const { ingestion, manifest } = yield* copyIngestion(layout)
  const loaded = Object.entries(manifest.data_sets).filter(([, entry]) => isLoaded(entry))
  for (const [pipeline, entry] of loaded) yield* verifyDataSet(layout, pipeline, entry)
  const { others, readable: parts } = yield* findReadable(layout, Object.fromEntries(loaded))
  const [first] = others
  if (first !== undefined && parts.length === 0) return yield* first
  for (const { message } of others) yield* Effect.logWarning(`the snapshot lacks a data set: ${message}`)
  yield* writeSnapshot(to, { parts, ingestion })
  const { size } = yield* fs.stat(to)
  return {
    file: to,
    bytes: Number(size),
    generation: generationId(manifest.number),
    data_sets: parts.map(({ dataSet }) => dataSet.about.pipeline)
  }
}, Effect.scoped)

export const snapshotCommand = Command.make(
  "snapshot",
  {
    to: Flag.Path("to").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The new file; an existing file is not replaced")
    ),
    json: jsonFlag(),
    quiet: quietFlag
  },
  Effect.fn(function* ({ json, to }) {
    const written = yield* takeSnapshot(path.resolve(to))
    const { bytes, data_sets, file, generation } = written
    const summary = `${file}: ${formatKibibytes(bytes)}, ${data_sets.join(", ")} of ${generation}`
    yield* Console.log(json ? JSON.stringify(written) : summary)
  }, quietly)
).pipe(Command.withDescription("Write everything that is live into one ordinary DuckDB file"))
