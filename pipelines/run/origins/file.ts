/**
 * A local release, for `--file`: a zip, a `.json`, or a folder of `.csv` files that together are one release.
 * Addresses are `file:<name>` and `file:<folder>/<name>`: local paths are private, so they are not archived or logged.
 */
import path from "node:path"
import { Effect, FileSystem, Layer, type PlatformError, Schema, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"
import { NotRecorded, Origin, RecordingUnreadable, type SourceRequest, type SourceResponse } from "./origin.ts"

export const fileScheme = "file:"

export class FileUnusable extends Schema.TaggedError<FileUnusable>()("FileUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} is not a release: ${this.problem}. --file takes a zip, a .json, or a folder with .csv files.`
  }
}

const makeAddress = (...names: ReadonlyArray<string>) => fileScheme + names.map(encodeURIComponent).join("/")

/** Default values for response fields that recordings and local files do not have. */
export const recordedResponse = (url: string) => ({
  status: 200,
  final_url: url,
  content_type: null,
  etag: null,
  last_modified: null
})

/** Opens a local file as a response. `displayName` is its name in error messages. */
export const openLocalFile = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  url: string,
  file: string,
  displayName: string
) {
  const unreadable = (error: PlatformError.PlatformError) =>
    new RecordingUnreadable({ file: displayName, cause: error.reason.cause ?? error })
  const { type } = yield* Effect.mapError(fs.stat(file), unreadable)
  // opening a pipe blocks until something is written to it and cannot be interrupted; a device may never reach the end of its data
  if (type !== "File")
    return yield* new RecordingUnreadable({ file: displayName, cause: new Error("it is not a regular file") })
  yield* Effect.mapError(fs.access(file, { readable: true }), unreadable)
  const body = Stream.mapError(fs.stream(file, { chunkSize: pieceBytes }), unreadable)
  const response: SourceResponse = { ...recordedResponse(url), exact: true, from: 0, total: null, file, body }
  return response
})

const isCsv = (name: string) => /^[^.].*\.csv$/i.test(name)
const maxFound = 5
const maxEntries = 100
const printable = (name: string) => JSON.stringify(name.slice(0, 100).replaceAll(/\p{C}/gu, "?"))

/** What a folder has that may be meant instead: a zip, a `.json`, or a folder with `.csv` files, one level below. */
const findReleases = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  folder: string,
  entries: ReadonlyArray<string>
) {
  const found: Array<string> = []
  for (const entry of entries.filter((name) => !name.startsWith(".")).slice(0, maxEntries)) {
    if (found.length === maxFound) break
    const inner = yield* Effect.orElseSucceed(fs.readDirectory(path.join(folder, entry)), () => [])
    if (/\.(zip|json)$/i.test(entry) || inner.some(isCsv)) found.push(entry)
  }
  return found
})

const make = Effect.fnUntraced(function* (location: string) {
  const fs = yield* FileSystem.FileSystem
  const release = path.resolve(location)
  const name = path.basename(release)
  const unusable = (problem: string) => new FileUnusable({ file: name, problem })

  const { type } = yield* Effect.mapError(fs.stat(release), (error) => unusable(error.message))
  const files = new Map<string, string>()
  if (type === "Directory") {
    const entries = yield* Effect.mapError(fs.readDirectory(release), (error) => unusable(error.message))
    for (const entry of entries.filter(isCsv).sort()) {
      files.set(makeAddress(name, entry), path.join(release, entry))
    }
    if (files.size === 0) {
      const found = yield* findReleases(fs, release, entries)
      const hint = found.length === 0 ? "" : `; give one of those in it: ${found.map(printable).join(", ")}`
      return yield* unusable(`the folder has no .csv file${hint}`)
    }
  } else {
    if (!/\.(zip|json)$/i.test(name)) return yield* unusable("the file type is not supported")
    files.set(makeAddress(name), release)
  }

  const open = Effect.fn("Origin.open")(function* ({ url }: SourceRequest) {
    const file = files.get(url)
    if (file === undefined) {
      return yield* new NotRecorded({ url, kind: "replay", folder: name, looked_for: [...files.keys()] })
    }
    return yield* openLocalFile(fs, url, file, path.basename(file))
  })

  const list = (prefix: string) =>
    Effect.sync(() => [...files.keys()].filter((address) => address.startsWith(prefix)).sort())
  return Origin.of({ kind: "replay", open, list, retry: (attempt) => attempt })
})

export const fileOrigin = (location: string) => Layer.effect(Origin, make(location))
