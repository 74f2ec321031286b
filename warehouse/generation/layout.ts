/**
 * The paths of the warehouse on this machine. Generations are in `warehouse/generations/` and `warehouse/objects/`. If
 * several machines share a depot, these are the generations that this machine has pulled. The files that people open are
 * made from them, and are also in `warehouse/`: see `opened-files.ts`.
 */
import { Effect, FileSystem, Path, Schema } from "effect"
import { type Depot, objectName } from "../depot/depot.ts"
import { folderDepot } from "../depot/folder.ts"
import { openSharedDepot } from "../depot/shared.ts"
import { causeText, ifMissing, makeFolders } from "../disk.ts"
import { WarehouseProblem } from "../problem.ts"

/** `shared` is the depot that several machines share. */
export const layoutOf = (home: string, shared?: Depot) =>
  Effect.map(Path.Path, (path) => {
    const absolute = path.resolve(home)
    const dir = path.join(absolute, "warehouse")
    const local = folderDepot(dir, "LARDER_HOME")
    return {
      home: absolute,
      dir,
      depot: shared ?? local,
      /** The generations that are complete on this machine: equal to `depot`, unless machines share one. */
      local,
      /** Objects that are being pulled, named by their SHA-256. */
      incoming: path.join(dir, "incoming"),
      /** Locked while a generation is pulled. */
      pullLock: path.join(dir, ".pull.lock"),
      objectFile: (sha256: string) => path.join(dir, objectName(sha256)),
      /** Local markers for finished work: see `markers.ts`. */
      markers: path.join(dir, "seen"),
      /** Folders with the sidecar files of branded foods, one for each of their databases. */
      sidecars: path.join(dir, "beside"),
      /** Locked while one of these folders is created. */
      sidecarsLock: path.join(dir, ".beside.lock"),
      catalogue: path.join(dir, "larder.duckdb"),
      /** The records of all runs, made from the parts of `ingest`. */
      ingestion: path.join(dir, "ingestion.duckdb"),
      dataSetFile: (pipeline: string) => path.join(dir, `${pipeline}.duckdb`),
      /** Locked while a run of this pipeline publishes, or a rollback changes its data set. */
      lockOf: (pipeline: string) => path.join(dir, `.${pipeline}.lock`),
      /** Locked while the files that people open are made. */
      openedLock: path.join(dir, ".opened.lock"),
      /** Locked while the lake is updated. */
      lakeLock: path.join(dir, ".lake.lock"),
      staging: path.join(absolute, "staging"),
      /** Locked while a run searches for files of killed runs, and while it creates its own folder. */
      stagingLock: path.join(absolute, ".staging.lock")
    }
  })

export type Layout = Readonly<Effect.Success<ReturnType<typeof layoutOf>>>

export class NoWarehouse extends Schema.TaggedError<NoWarehouse>()("NoWarehouse", { dir: Schema.String }) {
  override get message() {
    return `There is no data in ${this.dir} yet. Run: npx larder-ingest`
  }
}

export class HomeUnwritable extends Schema.TaggedError<HomeUnwritable>()("HomeUnwritable", {
  path: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `${this.path} cannot be created or written: ${causeText(this.cause)}. Set LARDER_HOME to a folder that this user can write.`
  }
}

/** Creates a folder and checks that it is writable, before any work is done. */
export const requireWritableFolder = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  const unwritable = (cause: unknown) => new HomeUnwritable({ path: dir, cause })
  yield* Effect.try({ try: () => makeFolders(dir), catch: unwritable })
  yield* fs.access(dir, { writable: true }).pipe(Effect.mapError((cause) => unwritable(cause.reason.cause ?? cause)))
})

/** Rejects a warehouse in the format of an earlier version, which stored each generation in one file. */
export const requireCurrentFormat = Effect.fnUntraced(function* ({ dir }: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(dir).pipe(
    ifMissing<ReadonlyArray<string>>([]),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
  const file = names
    .filter((name) => /^larder-\d{6,}\.duckdb$/.test(name))
    .toSorted()
    .at(-1)
  if (file === undefined) return
  return yield* new WarehouseProblem({
    problem: `${dir} contains a warehouse in an earlier format (${file}). Nothing was changed. Move this folder aside, and rebuild it from the raw archive with: npx larder-ingest rebuild`
  })
})

/** The paths of a home, with the depot that LARDER_DEPOT names. */
export const openLayout = (home: string) => Effect.flatMap(openSharedDepot(home), (depot) => layoutOf(home, depot))
