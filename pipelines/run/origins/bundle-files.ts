/**
 * Unpacks a bundle of `larder-ingest probe --bundle`: a zip laid out like a folder of recordings. It may come from an
 * untrusted sender, so its names must not lead out of the folder, and its unpacked size has a limit.
 */
import { createReadStream, createWriteStream } from "node:fs"
import { mkdir } from "node:fs/promises"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { Effect, FileSystem, Schema } from "effect"
import { type Entry, openPromise } from "yauzl"
import { codeOf, reasonOf } from "../files/causes.ts"

export class BundleUnusable extends Schema.TaggedError<BundleUnusable>()("BundleUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} cannot be replayed: ${this.problem}. --replay takes a folder of recordings, or a bundle of larder-ingest probe.`
  }
}

/** Bundles contain the first rows of feeds: a few megabytes. */
const maxBytes = 512 << 20
const maxFiles = 50_000

/** The high bits of the attributes contain the file mode if the zip was made on Unix (APPNOTE.TXT, 4.4.15). */
const isLink = ({ externalFileAttributes }: Entry) => ((externalFileAttributes >>> 16) & 0o170000) === 0o120000

const tooLargeError = () => new Error("it contains more than any bundle")

/** Measures a decompressed `.gz` recording up to its first fault: it may be truncated, or not be gzip. */
const measureGzip = async (file: string, limit: number) => {
  let bytes = 0
  const count = async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      bytes += piece.length
      if (bytes > limit) return
    }
  }
  await pipeline(createReadStream(file), createGunzip(), count).catch(() => {}) // the reader reports the error
  if (bytes > limit) throw tooLargeError()
  return bytes
}

const unpack = async (file: string, folder: string) => {
  const zip = await openPromise(file) // rejects absolute names and names with `..`
  let bytes = 0
  let files = 0
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith("/")) continue
    bytes += entry.uncompressedSize // yauzl enforces the size that a member declares
    files += 1
    if (isLink(entry)) throw new Error(`${entry.fileName} is a link`)
    if (bytes > maxBytes || files > maxFiles) throw tooLargeError()
    const target = path.join(folder, entry.fileName.replaceAll("?", "%3F")) // Windows allows no question mark in a name
    try {
      await mkdir(path.dirname(target), { recursive: true })
      await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { flags: "wx" }))
    } catch (cause) {
      if (!isTaken(cause)) throw cause
      throw new Error(`${entry.fileName} has the name of another file or folder in it`)
    }
    if (target.endsWith(".gz")) bytes += await measureGzip(target, maxBytes - bytes)
  }
}

/** Errors for a name that is already taken. Their messages contain local paths, which are not shown. */
const isTaken = (cause: unknown) => ["EEXIST", "EISDIR", "ENOTDIR"].includes(codeOf(cause))

/** Unpacks the bundle into a folder that exists until the scope closes. */
export const unpackBundle = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "larder-bundle-" }))
  yield* Effect.tryPromise({
    try: () => unpack(file, folder),
    catch: (cause) =>
      new BundleUnusable({
        file,
        problem: reasonOf(cause)
          .replace(/, \w+ '.*$/s, "")
          .replace(/\.$/, "")
      })
  })
  return folder
})
