/** Raw archives of tests: an origin that responds from memory, and the content of the folder. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { Archive } from "@larder/pipelines/run/archive/archive.ts"
import { Origin } from "@larder/pipelines/run/origins/origin.ts"
import { Effect, FileSystem, Layer, Stream } from "effect"

export const sha256Of = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex")

type Payloads = Readonly<Record<string, string | Uint8Array>>

/** Responds with these payloads as the network does, including conditional requests. */
export const originOf = (payloads: Payloads) =>
  Layer.succeed(
    Origin,
    Origin.of({
      kind: "live",
      open: ({ url, validators }) => {
        const body = Buffer.from(payloads[url] ?? "")
        const etag = `"${sha256Of(body)}"`
        return Effect.succeed({
          status: validators?.etag === etag ? 304 : 200,
          final_url: url,
          content_type: "text/plain",
          etag,
          last_modified: null,
          exact: true,
          from: 0,
          total: body.length,
          body: Stream.succeed(body)
        })
      },
      list: () => Effect.undefined,
      retry: (attempt) => attempt
    })
  )

/** Gives each payload an address. */
export const assignUrls = (payloads: ReadonlyArray<string | Uint8Array>): Payloads =>
  Object.fromEntries(payloads.map((payload, at) => [`https://source.test/${at}`, payload]))

export const archiveOf = (
  folder: string,
  run_id: string,
  more: { readonly resumesRuns?: true; readonly dryRunFolder?: string } = {}
) => Archive.layer({ folder, run_id, pipeline: "shops", days: null, ...more })

/** Fetches these payloads, and returns the bytes that the run reads. */
export const fetchAll = (payloads: Payloads) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    const fs = yield* FileSystem.FileSystem
    return yield* Effect.forEach(Object.keys(payloads), (url) =>
      Effect.flatMap(archive.fetch({ url, accept: "*/*" }), ({ path: file }) => fs.readFile(file))
    )
  })

/** Fetches these payloads in a separate run, publishes, and compresses the large ones. */
export const publishRun = (folder: string, run_id: string, payloads: Payloads) =>
  Effect.gen(function* () {
    const archive = yield* Archive
    const read = yield* fetchAll(payloads)
    yield* archive.recordEnd({ published: run_id })
    yield* archive.compressLarge
    return read
  }).pipe(Effect.provide([archiveOf(folder, run_id), originOf(payloads)]))

/** Lists the files of the archive, without the lists of fetches. */
export const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .filter((name) => !name.startsWith("fetches/"))
    .sort()

/** The name of a payload's file that has the bytes as fetched. */
export const plainName = (payload: string | Uint8Array) => {
  const sha256 = sha256Of(payload)
  return `${sha256.slice(0, 2)}/${sha256}`
}
export const compressedName = (payload: string | Uint8Array) => `${plainName(payload)}.zst`

/** Reads all payloads of an archive, as they were fetched. */
export const readPayloads = (folder: string): ReadonlyArray<Buffer> =>
  filesIn(folder).map((name) => {
    const bytes = readFileSync(path.join(folder, name))
    return name.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes
  })
