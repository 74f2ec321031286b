/**
 * The payloads that Larder bundles. Most of their numbers are generated, so they are never mixed with data from a source,
 * and are marked as samples even if they are read through `--replay`, `--file` or a store list.
 */

import { hash } from "node:crypto"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import type { RunRecord } from "@larder/schemas"
import { type Layout, literal, newestManifest, type Staging } from "@larder/warehouse"
import { Effect, FileSystem, Option, Schema } from "effect"
import type { Pipeline } from "./pipeline.ts"

/** A shorter payload, such as an empty page or a robots.txt, may be the same at any source. */
const minBytes = 1000
/** No bundled payload is larger. */
const maxBytes = 2 ** 31 - 1

/** Returns the payload length of a file. A gzip file with one member, like these, ends with this length (RFC 1952). */
const readPayloadLength = Effect.fnUntraced(function* (file: string, size: number) {
  if (!file.endsWith(".gz")) return size
  const fs = yield* FileSystem.FileSystem
  const open = yield* fs.open(file)
  yield* open.seek(BigInt(size - 4), "start")
  const end = yield* open.readAlloc(4)
  return Option.match(end, { onNone: () => 0, onSome: (bytes) => Buffer.from(bytes).readUInt32LE() })
}, Effect.scoped)

/** Hashes only the bundled payloads with one of these lengths, because unpacking all of them takes 0.1 s. */
const hashBundled = Effect.fnUntraced(
  function* (samples: URL, lengths: ReadonlySet<number>) {
    const fs = yield* FileSystem.FileSystem
    const folder = fileURLToPath(samples)
    const hashFile = Effect.fnUntraced(function* (name: string) {
      const file = path.join(folder, name)
      const { size, type } = yield* fs.stat(file)
      if (type !== "File" || !lengths.has(yield* readPayloadLength(file, Number(size)))) return []
      const bytes = yield* fs.readFile(file)
      const payload = name.endsWith(".gz") ? gunzipSync(bytes) : bytes
      return [hash("sha256", payload, "hex")]
    })
    return (yield* Effect.forEach(yield* fs.readDirectory(folder, { recursive: true }), hashFile)).flat()
  },
  Effect.catchTag("PlatformError", () => Effect.succeed([])) // the samples were removed
)

const Length = Schema.Struct({ bytes: Schema.Int })
const Marked = Schema.Struct({ raw_sha256: Schema.String })

/** Marks staged payloads as samples if they are bundled ones. Returns whether there were any. */
export const markBundled = Effect.fn("Pipeline.markBundled")(function* (
  { samples }: Pick<Pipeline, "samples">,
  { db }: Pick<Staging, "db">
) {
  const lengths = yield* db.all(
    Length,
    `select distinct bytes::integer as bytes from ingest.raw_file where bytes between ${minBytes} and ${maxBytes}`
  )
  const bundled = yield* hashBundled(samples, new Set(lengths.map(({ bytes }) => bytes)))
  if (bundled.length === 0) return false
  const marked = yield* db.all(
    Marked,
    `update ingest.raw_file set origin = 'sample' where raw_sha256 in (${bundled.map(literal).join(", ")}) returning raw_sha256`
  )
  return marked.length > 0
})

/** Explains why a run must not add to this warehouse; undefined if it may. A replay may always add. */
export const findMixture = Effect.fnUntraced(function* (
  layout: Layout,
  { rowNoun, name: pipeline }: Pick<Pipeline, "name" | "rowNoun">,
  kind: RunRecord["origin"]
) {
  if (kind === "replay") return undefined
  const live = (yield* newestManifest(layout.local))?.data_sets[pipeline]
  if (kind === "live" && live?.origins.includes("sample")) {
    return `This warehouse contains bundled samples, most of them generated; live ${rowNoun} are not mixed with them. Set LARDER_HOME to another folder, or remove the old one, and run again.`
  }
  if (kind === "sample" && live?.origins.includes("live")) {
    return `This warehouse contains live ${rowNoun}; the bundled samples, most of them generated, are not mixed with them. Set LARDER_SOURCES=live to continue with live data, or LARDER_HOME to another folder.`
  }
  return undefined
})
