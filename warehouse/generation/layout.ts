/**
 * Where the warehouse lies: `$LARDER_HOME/warehouse/larder.duckdb` is a link to the current generation file
 * `larder-000042.duckdb`. Numbers only go up; `*.building` files were left by a run that was killed.
 */
import { Effect, FileSystem, Option, Path, Schema } from "effect"

export interface Layout {
  readonly home: string
  readonly dir: string
  readonly link: string
  readonly lock: string
  readonly staging: string
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

/** Makes a folder and proves that it can be written, before any work is done. */
export const writableDirectory = Effect.fnUntraced(function* (dir: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const probe = path.join(dir, `.probe-${process.pid}`)
  yield* fs.makeDirectory(dir, { recursive: true }).pipe(
    Effect.andThen(fs.writeFileString(probe, "")),
    Effect.andThen(fs.remove(probe)),
    Effect.mapError((cause) => new HomeUnwritable({ path: dir, cause }))
  )
})

/** The real file of the current generation, or none before the first one. */
export const currentFile = (layout: Layout) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.option(fs.realPath(layout.link)))

/** The real file of the current generation. A link that leads nowhere is no warehouse. */
export const requireCurrentFile = Effect.fnUntraced(function* (layout: Layout) {
  const file = yield* currentFile(layout)
  if (Option.isNone(file)) return yield* new NoWarehouse({ link: layout.link })
  return file.value
})

/** Generation files in the folder, oldest first. */
export const generations = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* fs.readDirectory(layout.dir)
  return names
    .flatMap((name) => {
      const match = generationPattern.exec(name)
      return match === null ? [] : [{ number: Number(match[1]), name }]
    })
    .sort((a, b) => a.number - b.number)
})
