/**
 * The places of the warehouse on this machine. `warehouse/` holds generations: `generations/` and `objects/`. The files
 * that people open are beside them under their own names, and are made from them: see `opened-files.ts`. If several
 * machines share a depot, `warehouse/` holds what this machine has pulled.
 */
import { Effect, FileSystem, Path, type PlatformError, Schema } from "effect"
import { type Depot, objectName } from "../depot/depot.ts"
import { folderDepot } from "../depot/folder.ts"

export interface Layout {
  readonly home: string
  readonly dir: string
  /** Where generations are published. */
  readonly depot: Depot
  /** The generations that are complete on this machine: the same depot, unless machines share one. */
  readonly local: Depot
  /** Objects that are being pulled, named by their SHA-256. */
  readonly incoming: string
  /** Held while a generation is pulled. */
  readonly pullLock: string
  /** The file of an object. */
  readonly objectFile: (sha256: string) => string
  /** Notes on files that were verified against their SHA-256. */
  readonly seen: string
  /** Folders with the sidecar files of branded foods, one for each of their databases. */
  readonly sidecars: string
  /** Held while such a folder is created. */
  readonly sidecarsLock: string
  /** The catalogue over all data sets. */
  readonly catalogue: string
  /** The records of all runs, made from the parts of `ingest`. */
  readonly ingestion: string
  /** The file of a data set, by the name of its pipeline. */
  readonly dataSetFile: (pipeline: string) => string
  /** Held while a run of this pipeline publishes, or a rollback changes its data set. */
  readonly lockOf: (pipeline: string) => string
  /** Held while the files that people open are made. */
  readonly openedLock: string
  /** Held while the lake is updated. */
  readonly lakeLock: string
  readonly staging: string
  /** Held while a run looks for what killed runs left, and while it creates its own folder. */
  readonly stagingLock: string
}

/** `shared` is the depot that several machines share. */
export const layoutOf = (home: string, shared?: Depot): Effect.Effect<Layout, never, Path.Path> =>
  Effect.map(Path.Path, (path) => {
    const absolute = path.resolve(home)
    const dir = path.join(absolute, "warehouse")
    const local = folderDepot(dir, "LARDER_HOME")
    return {
      home: absolute,
      dir,
      depot: shared ?? local,
      local,
      incoming: path.join(dir, "incoming"),
      pullLock: path.join(dir, ".pull.lock"),
      objectFile: (sha256) => path.join(dir, objectName(sha256)),
      seen: path.join(dir, "seen"),
      sidecars: path.join(dir, "beside"),
      sidecarsLock: path.join(dir, ".beside.lock"),
      catalogue: path.join(dir, "larder.duckdb"),
      ingestion: path.join(dir, "ingestion.duckdb"),
      dataSetFile: (pipeline) => path.join(dir, `${pipeline}.duckdb`),
      lockOf: (pipeline) => path.join(dir, `.${pipeline}.lock`),
      openedLock: path.join(dir, ".opened.lock"),
      lakeLock: path.join(dir, ".lake.lock"),
      staging: path.join(absolute, "staging"),
      stagingLock: path.join(absolute, ".staging.lock")
    }
  })

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
    return `${this.path} cannot be created or written: ${this.cause instanceof Error ? this.cause.message : String(this.cause)}. Set LARDER_HOME to a folder that this user can write.`
  }
}

/** Creates a folder and checks that it is writable, before any work is done. */
export const writableDirectory = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dir, { recursive: true }).pipe(
    Effect.andThen(fs.access(dir, { writable: true })),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
})

/** Returns `otherwise` if the file does not exist; any other failure remains. */
export const ifMissing =
  <B>(otherwise: B) =>
  <A, R>(read: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.catchIf(
      read,
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed(otherwise)
    )

/** The warehouse was made by a version of Larder that kept each generation in one file. */
class EarlierForm extends Schema.TaggedError<EarlierForm>()("EarlierForm", {
  dir: Schema.String,
  file: Schema.String
}) {
  override get message() {
    return `${this.dir} holds a warehouse of an earlier form (${this.file}). Nothing was changed. Move this folder aside, and rebuild it from the raw archive with: npx larder-ingest rebuild`
  }
}

const earlierGeneration = /^larder-\d{6,}\.duckdb$/

/** Refuses a folder with generations of the earlier form. */
export const requirePresentForm = Effect.fnUntraced(function* ({ dir }: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(dir).pipe(
    ifMissing<ReadonlyArray<string>>([]),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
  const file = names
    .filter((name) => earlierGeneration.test(name))
    .sort()
    .at(-1)
  if (file !== undefined) return yield* new EarlierForm({ dir, file })
})
