/** `larder-ingest snapshot`: everything that is live in one ordinary DuckDB file, for another machine or an older DuckDB. */
import { layoutOf, NoWarehouse, requirePresentForm } from "@larder/warehouse/generation/layout.ts"
import { generationId, isLoaded, newestManifest } from "@larder/warehouse/generation/manifest.ts"
import { verifiedDatabase } from "@larder/warehouse/generation/parts.ts"
import { refreshOpened } from "@larder/warehouse/opened/opened-files.ts"
import type { Parts } from "@larder/warehouse/opened/parts.ts"
import { readableOf } from "@larder/warehouse/opened/readable.ts"
import { snapshot as writeSnapshot } from "@larder/warehouse/opened/snapshot.ts"
import { dataSets } from "@larder/warehouse/tables.ts"
import { Console, Effect, FileSystem, Option, Path } from "effect"
import { Command, Flag } from "effect/cli"
import { homeSetting } from "../run/run.ts"

/** Writes it; answers with what is in it. */
const take = Effect.fnUntraced(function* (home: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  const layout = yield* layoutOf(home)
  yield* requirePresentForm(layout)
  const manifest = Option.getOrUndefined(yield* newestManifest(layout.depot))
  const loaded = Object.entries(manifest?.data_sets ?? {}).filter(([, entry]) => isLoaded(entry))
  if (manifest === undefined || loaded.length === 0) return yield* new NoWarehouse({ dir: layout.dir })
  for (const [pipeline, entry] of loaded) yield* verifiedDatabase(layout, pipeline, entry)
  const { others, readable } = yield* readableOf(layout, Object.fromEntries(loaded))
  const parts = dataSets.flatMap((dataSet): Parts["parts"] => {
    const [database] = readable[dataSet.about.pipeline]?.parts ?? []
    return database === undefined ? [] : [{ dataSet, file: layout.objectFile(database.sha256) }]
  })
  const [first] = others
  if (first !== undefined && parts.length === 0) return yield* first
  for (const { message } of others) yield* Effect.logWarning(`the snapshot is without a data set: ${message}`)
  yield* refreshOpened(layout) // a run may have been killed before it could
  yield* writeSnapshot({ to, parts, ingestion: layout.ingestion })
  const { size } = yield* fs.stat(to)
  return {
    file: to,
    bytes: Number(size),
    generation: generationId(manifest.number),
    data_sets: parts.map(({ dataSet }) => dataSet.about.pipeline)
  }
}, Effect.scoped)

export const snapshot = Command.make(
  "snapshot",
  {
    to: Flag.Path("to").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The new file; one that is there is not replaced")
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json, to }) {
    const path = yield* Path.Path
    const taken = yield* take(yield* homeSetting, path.resolve(to))
    const { bytes, data_sets, file, generation } = taken
    const size = `${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
    yield* Console.log(json ? JSON.stringify(taken) : `${file}: ${size}, ${data_sets.join(", ")} of ${generation}`)
  })
).pipe(Command.withDescription("Write everything that is live into one ordinary DuckDB file"))
