/**
 * Where the warehouse lies: `$LARDER_HOME/warehouse/larder.duckdb` is a link to the current generation file
 * `larder-000042.duckdb`. Numbers only go up; `*.building*` files were left by a run that was killed.
 */
import { Effect, FileSystem, Option, Path, type PlatformError, Schema } from "effect"
import { DuckDb, literal, NotADatabase, openError } from "../duckdb.ts"

export interface Layout {
  readonly home: string
  readonly dir: string
  readonly link: string
  /** The link of a generation that is being promoted, until it takes the place of `link`. */
  readonly nextLink: string
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
      nextLink: path.join(dir, ".larder.duckdb.next"),
      lock: path.join(dir, ".publish.lock"),
      staging: path.join(absolute, "staging"),
      stagingLock: path.join(absolute, ".staging.lock"),
      journal: path.join(absolute, "journal")
    }
  })

export const generationPattern = /^larder-\d{6,}\.duckdb$/
export const generationId = (number: number) => `larder-${String(number).padStart(6, "0")}`
/** `larder-000042.duckdb` → `larder-000042` */
export const idOf = (name: string) => name.replace(/\.duckdb$/, "")
/** `larder-000042` → 42 */
export const numberOf = (id: string) => Number(id.replace("larder-", ""))

export class NoWarehouse extends Schema.TaggedError<NoWarehouse>()("NoWarehouse", { link: Schema.String }) {
  override get message() {
    return `There is no warehouse at ${this.link} yet. Run: npx larder-ingest`
  }
}

/**
 * The link leads to no generation, and it is not that there was none yet. To begin an empty warehouse would lose the history:
 * the new one would be served, and the old generations pruned in time.
 */
export class NoLiveGeneration extends Schema.TaggedError<NoLiveGeneration>()("NoLiveGeneration", {
  link: Schema.String,
  /** What is wrong with it, after its name. */
  fault: Schema.String,
  /** Ids of the generations beside it, oldest first. */
  kept: Schema.Array(Schema.String)
}) {
  override get message() {
    const newest = this.kept.at(-1)
    return newest === undefined
      ? `${this.link} ${this.fault}, and no generation is kept beside it. Nothing was changed. Put the warehouse file back; or remove what is there, and the next run reads everything anew.`
      : `${this.link} ${this.fault}, but generations are kept beside it: ${this.kept.join(", ")}. Nothing was changed. Make one of them live with: npx larder-ingest rollback --to ${numberOf(newest)}`
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

const readLink = (link: string) => FileSystem.FileSystem.use((fs) => Effect.option(fs.readLink(link))) // none where there is nothing, or no link

/** Generation files in the folder, oldest first, without one that was never live: its run is promoting it, or was killed. */
export const generations = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(layout.dir).pipe(ifMissing<ReadonlyArray<string>>([]))
  const promoted = Option.getOrUndefined(yield* readLink(layout.nextLink))
  const live = Option.getOrUndefined(yield* readLink(layout.link))
  return names
    .filter((name) => generationPattern.test(name) && (name !== promoted || name === live))
    .map((name) => ({ number: numberOf(idOf(name)), name }))
    .sort((a, b) => a.number - b.number)
})

const findCurrent = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // Listed before the link is followed: a generation in the list is live by now, or was.
  const kept = (yield* generations(layout)).map(({ name }) => idOf(name))
  const refuse = (fault: string) => Effect.fail(new NoLiveGeneration({ link: layout.link, fault, kept }))
  const file = yield* Effect.map(fs.realPath(layout.link), Option.some).pipe(ifMissing(Option.none<string>()))
  const target = Option.map(yield* readLink(layout.link), (name) => path.resolve(layout.dir, name))
  if (Option.isNone(file)) {
    if (Option.isSome(target)) return yield* refuse(`leads to ${target.value}, which is not there`)
    return kept.length === 0 ? file : yield* refuse("is missing")
  }
  const isFolder = (yield* fs.stat(file.value)).type === "Directory"
  if (isFolder && Option.isNone(target)) return yield* refuse("is a folder and no link")
  if (kept.length === 0 && !isFolder) return file // a warehouse that was copied without its link is one, too
  if (Option.isNone(target)) return yield* refuse("is a file and no link")
  const isOurs = path.dirname(file.value) === (yield* fs.realPath(layout.dir))
  if (isOurs && generationPattern.test(path.basename(file.value))) return file
  return yield* refuse(`leads to ${target.value}, which is none of them`)
})

/** The real file of the current generation, or none before the first one. */
export const currentFile = (layout: Layout) =>
  Effect.catchTag(findCurrent(layout), "PlatformError", (error) =>
    Effect.fail(new HomeUnwritable({ path: layout.dir, cause: error.reason.cause ?? error }))
  )

/** The real file of the current generation. */
export const requireCurrentFile = Effect.fnUntraced(function* (layout: Layout) {
  const file = yield* currentFile(layout)
  if (Option.isNone(file)) return yield* new NoWarehouse({ link: layout.link })
  return file.value
})

const goBack = "Go back to an earlier one with: npx larder-ingest rollback"
const beginAnew = "Restore it from a backup; or remove it, and the next run reads everything anew."

/** Says what to do next: go back, where there is a generation to go back to. */
const advising = Effect.fnUntraced(function* ({ cause, file }: NotADatabase) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* Effect.orElseSucceed(fs.readDirectory(path.dirname(file)), () => [])
  const canGoBack = names.some((name) => generationPattern.test(name) && name !== path.basename(file))
  return yield* new NotADatabase({ file, cause, advice: canGoBack ? goBack : beginAnew })
})

/** Opens a generation for reading. Where that is impossible, says how to go back. */
export const openGeneration = (file: string) => DuckDb.readOnly(file).pipe(Effect.catchTag("NotADatabase", advising))

/** The same beside another database, in which it is called `live`. */
export const attachLive = (db: DuckDb["Service"], file: string) =>
  db
    .run(`attach ${literal(file)} as live (read_only)`)
    .pipe(Effect.mapError(openError(file)), Effect.catchTag("NotADatabase", advising))
