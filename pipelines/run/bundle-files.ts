/**
 * A bundle that `larder-ingest probe --bundle` wrote: a zip with recordings, laid out like a folder of them. It may come from a
 * stranger, so that its names lead nowhere, and what it unpacks to has a limit.
 */
import { createWriteStream } from "node:fs"
import { mkdir } from "node:fs/promises"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { Effect, FileSystem, Schema } from "effect"
import { openPromise } from "yauzl"

export class BundleUnusable extends Schema.TaggedError<BundleUnusable>()("BundleUnusable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} cannot be replayed: ${this.problem}. --replay takes a folder of recordings, or a bundle of larder-ingest probe.`
  }
}

/** Bundles hold the first rows of feeds: a few megabytes. */
const mostBytes = 512 << 20
const mostFiles = 50_000

const unpack = async (file: string, folder: string) => {
  const zip = await openPromise(file) // refuses names that are absolute or climb
  let bytes = 0
  let files = 0
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith("/")) continue
    bytes += entry.uncompressedSize // yauzl holds a member to the size that it declares
    files += 1
    if (bytes > mostBytes || files > mostFiles) throw new Error("it holds more than any bundle")
    const target = path.join(folder, entry.fileName.replaceAll("?", "%3F")) // no name on Windows has a question mark
    await mkdir(path.dirname(target), { recursive: true })
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(target, { flags: "wx" }))
  }
}

/** A folder with what the bundle holds, until the scope closes. */
export const unpackedBundle = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* Effect.orDie(fs.makeTempDirectoryScoped({ prefix: "larder-bundle-" }))
  yield* Effect.tryPromise({
    try: () => unpack(file, folder),
    catch: (cause) => new BundleUnusable({ file, problem: cause instanceof Error ? cause.message : String(cause) })
  })
  return folder
})
