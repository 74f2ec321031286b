/**
 * A release on this machine, for `--file`: a zip, a `.json`, or a folder of `.csv` files that together are one release.
 * Their addresses are `file:<name>` and `file:<folder>/<name>`: local paths are private, so they are neither archived
 * nor logged.
 */
import { Effect, FileSystem, Layer, Path, type PlatformError, Schema, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"
import { NotRecorded, Origin, RecordingUnreadable, type SourceRequest, type SourceResponse } from "./origin.ts"

export const fileScheme = "file:"

/** The given path is not a release. */
export class FileUnusable extends Schema.TaggedError<FileUnusable>()("FileUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} is not a release: ${this.problem}. --file takes a zip, a .json, or a folder with .csv files.`
  }
}

const addressOf = (...names: ReadonlyArray<string>) => fileScheme + names.map(encodeURIComponent).join("/")

/** An answer that is a local file. Errors name it by `shown`. */
export const openLocalFile = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  url: string,
  file: string,
  shown: string
) {
  const unreadable = (error: PlatformError.PlatformError) =>
    new RecordingUnreadable({ file: shown, cause: error.reason.cause ?? error })
  const { type } = yield* Effect.mapError(fs.stat(file), unreadable)
  // opening a pipe blocks until something is written to it, and no signal ends that; a device may have no end
  if (type !== "File")
    return yield* new RecordingUnreadable({ file: shown, cause: new Error("it is not a regular file") })
  yield* Effect.mapError(fs.access(file, { readable: true }), unreadable)
  return {
    status: 200,
    final_url: url,
    content_type: null,
    etag: null,
    last_modified: null,
    exact: true,
    from: 0,
    total: null,
    file,
    body: Stream.mapError(fs.stream(file, { chunkSize: pieceBytes }), unreadable)
  } satisfies SourceResponse as SourceResponse
})

const make = Effect.fnUntraced(function* (given: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const place = path.resolve(given)
  const name = path.basename(place)
  const unusable = (problem: string) => new FileUnusable({ file: name, problem })

  const filesIn = Effect.fnUntraced(function* (folder: string) {
    const names = (yield* fs.readDirectory(folder)).filter((entry) => /^[^.].*\.csv$/i.test(entry)).sort()
    if (names.length === 0) return yield* unusable("the folder has no .csv file")
    return names.map((entry) => [addressOf(name, entry), path.join(folder, entry)] as const)
  })

  const { type } = yield* Effect.mapError(fs.stat(place), (error) => unusable(error.message))
  if (type !== "Directory" && !/\.(zip|json)$/i.test(name)) return yield* unusable("it is neither of these")
  const files = new Map(
    type === "Directory"
      ? yield* Effect.catchTag(filesIn(place), "PlatformError", (error) => Effect.fail(unusable(error.message)))
      : [[addressOf(name), place] as const]
  )

  const open = Effect.fn("Origin.open")(function* ({ url }: SourceRequest) {
    const file = files.get(url)
    if (file === undefined) {
      return yield* new NotRecorded({ url, kind: "replay", folder: name, looked_for: [...files.keys()] })
    }
    return yield* openLocalFile(fs, url, file, path.basename(file))
  })

  const listing = (prefix: string) =>
    Effect.sync(() => [...files.keys()].filter((address) => address.startsWith(prefix)).sort())
  return Origin.of({ kind: "replay", open, listing, retrying: (attempt) => attempt })
})

export const fileOrigin = (given: string) => Layer.effect(Origin, make(given))
