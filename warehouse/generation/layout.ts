/**
 * Where the warehouse lies: `$LARDER_HOME/warehouse/larder.duckdb` is a link to the current generation file
 * `larder-000042.duckdb`. Numbers only go up; `*.building` files were left by a run that was killed.
 */
import { Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { DuckDb, literal, NotADatabase, openError } from "../duckdb.ts"

export interface Layout {
  readonly home: string
  readonly dir: string
  readonly link: string
  readonly lock: string
  readonly staging: string
  /** Held while a run looks for what killed runs left, and makes its own folder. */
  readonly stagingLock: string
  /** Records of runs that published nothing; the next generation takes them up. */
  readonly journal: string
}

export const layoutOf = (home: string): Effect.Effect<Layout, never, Path.Path> =>
  Effect.map(Path.Path, (path) => {
    const absolute = path.resolve(home)
    const dir = path.join(absolute, "warehouse")
    return {
      home: absolute,
      dir,
      link: path.join(dir, "larder.duckdb"),
      lock: path.join(dir, ".publish.lock"),
      staging: path.join(absolute, "staging"),
      stagingLock: path.join(absolute, ".staging.lock"),
      journal: path.join(absolute, "journal")
    }
  })

export const generationPattern = /^larder-(\d{6,})\.duckdb$/
export const generationId = (number: number) => `larder-${String(number).padStart(6, "0")}`

export class NoWarehouse extends Schema.TaggedError<NoWarehouse>()("NoWarehouse", { link: Schema.String }) {
  override get message() {
    return `There is no warehouse at ${this.link} yet. Run: npx larder-ingest`
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

/** Makes a folder and sees that it can be written, before any work is done. */
export const writableDirectory = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(dir, { recursive: true }).pipe(
    Effect.andThen(fs.access(dir, { writable: true })),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause: cause.reason.cause ?? cause }))
  )
})

/** What is not there answers with `otherwise`; any other fault stays one. */
export const ifMissing =
  <B>(otherwise: B) =>
  <A, R>(read: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.catchIf(
      read,
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeed(otherwise)
    )

/**
 * The real file of the current generation, or none before the first one. Where the link leads to a file that is gone, it
 * is that file: opening it fails, which is right. To take it for "no warehouse yet" would begin a new, empty one.
 */
export const currentFile = Effect.fnUntraced(
  function* (layout: Layout) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const file = yield* Effect.map(fs.realPath(layout.link), Option.some).pipe(ifMissing(Option.none<string>()))
    if (Option.isSome(file)) return file
    const target = yield* Effect.map(fs.readLink(layout.link), Option.some).pipe(ifMissing(Option.none<string>()))
    return Option.map(target, (name) => path.resolve(layout.dir, name))
  },
  (file, layout) =>
    Effect.catchTag(file, "PlatformError", (error) =>
      Effect.fail(new HomeUnwritable({ path: layout.dir, cause: error.reason.cause ?? error }))
    )
)

/** The real file of the current generation. */
export const requireCurrentFile = Effect.fnUntraced(function* (layout: Layout) {
  const file = yield* currentFile(layout)
  if (Option.isNone(file)) return yield* new NoWarehouse({ link: layout.link })
  return file.value
})

const goingBack = ({ cause, file }: NotADatabase) =>
  Effect.fail(new NotADatabase({ file, cause, advice: "Go back to an earlier one with: npx larder-ingest rollback" }))

/** Opens a generation for reading. Where that is impossible, says how to go back. */
export const openGeneration = (file: string) => DuckDb.readOnly(file).pipe(Effect.catchTag("NotADatabase", goingBack))

/** The same beside another database, in which it is called `live`. */
export const attachLive = (db: DuckDb["Service"], file: string) =>
  db
    .run(`attach ${literal(file)} as live (read_only)`)
    .pipe(Effect.mapError(openError(file)), Effect.catchTag("NotADatabase", goingBack))

/** Generation files in the folder, oldest first. */
export const generations = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(layout.dir).pipe(ifMissing<ReadonlyArray<string>>([]))
  return names
    .flatMap((name) => {
      const match = generationPattern.exec(name)
      return match === null ? [] : [{ number: Number(match[1]), name }]
    })
    .sort((a, b) => a.number - b.number)
})
