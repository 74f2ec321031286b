/**
 * Payloads that come with Larder, whoever reads them: most of their numbers are generated, and they stay marked as samples where
 * somebody replays their folder, gives one of them as a file, or has a store list name it.
 */
import { createHash } from "node:crypto"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { literal } from "@larder/warehouse/duckdb.ts"
import type { Staging } from "@larder/warehouse/staging.ts"
import { Effect, FileSystem, Path, Schema } from "effect"
import type { Pipeline } from "./pipeline.ts"

/** A shorter payload, such as an empty page or a robots.txt, may be the same anywhere. */
const tellingBytes = 1000

/** SHA-256 of each bundled payload of a pipeline, unpacked. Takes 0.1 s at most. None where they were removed. */
const bundledPayloads = Effect.fnUntraced(
  function* (samples: URL) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = fileURLToPath(samples)
    const hashOf = Effect.fnUntraced(function* (name: string) {
      const file = path.join(folder, name)
      if ((yield* fs.stat(file)).type !== "File") return []
      const bytes = yield* fs.readFile(file)
      const payload = name.endsWith(".gz") ? gunzipSync(bytes) : bytes
      return payload.length < tellingBytes ? [] : [createHash("sha256").update(payload).digest("hex")]
    })
    return (yield* Effect.forEach(yield* fs.readDirectory(folder, { recursive: true }), hashOf)).flat()
  },
  Effect.catchTag("PlatformError", () => Effect.succeed([]))
)

const Marked = Schema.Struct({ raw_sha256: Schema.String })

/** Marks staged payloads that are bundled ones as samples. Succeeds with whether there were any. */
export const markBundled = Effect.fn("Pipeline.markBundled")(function* (
  { samples }: Pick<Pipeline, "samples">,
  { db }: Pick<Staging, "db">
) {
  const bundled = yield* bundledPayloads(samples)
  if (bundled.length === 0) return false
  const marked = yield* db.all(
    Marked,
    `update ingest.raw_file set origin = 'sample' where raw_sha256 in (${bundled.map(literal).join(", ")}) returning raw_sha256`
  )
  return marked.length > 0
})
