/**
 * Verifies parts on this machine against their SHA-256, before a server serves them or a run builds on them. Files that
 * were verified before are recognised by their markers, which is quick.
 */
import { stat } from "node:fs/promises"
import { Effect, Schema } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { causeText, makeDigest, readPieces } from "../disk.ts"
import type { Layout } from "./layout.ts"
import type { DataSetEntry, DataSetPart } from "./manifest.ts"
import { isMarked, readStamp, toStamp, writeMarker } from "./markers.ts"

export class PartDamaged extends Schema.TaggedError<PartDamaged>()("PartDamaged", {
  pipeline: Schema.String,
  part: Schema.String,
  file: Schema.String,
  /** What is wrong with the part, worded to follow its name. */
  fault: Schema.String,
  /** Whether a shared depot may have the part. */
  isShared: Schema.Boolean
}) {
  override get message() {
    const { fault, file, isShared, part, pipeline } = this
    const remedy = isShared ? "Pull it again with: npx larder-ingest pull; or rebuild it" : "Rebuild it"
    return `${part} of ${pipeline} (${file}) ${fault}. It is not used. ${remedy} from the raw archive with: npx larder-ingest rebuild ${pipeline}; or go back with: npx larder-ingest rollback --only ${pipeline}`
  }
}

/** Computes the SHA-256 and size of a file, in constant memory. */
export const identifyFile = (file: string) =>
  Effect.tryPromise(async (): Promise<ObjectId> => {
    const digest = makeDigest()
    for await (const piece of readPieces(file)) digest.add(piece)
    return digest.end()
  })

/** Reads the stamp first: a file that changes while it is read has another stamp afterwards. */
export const identifyWithStamp = Effect.fnUntraced(function* (file: string) {
  const stamp = yield* Effect.tryPromise(() => readStamp(file))
  return { stamp, id: yield* identifyFile(file) }
})

/** Records that the file with this stamp has this SHA-256. */
export const markVerified = (layout: Layout, sha256: string, stamp: string) => writeMarker(layout, sha256, { stamp })

const describeReadError = (cause: unknown) =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"
    ? "is missing"
    : `cannot be read: ${causeText(cause)}`

/** What is wrong with the file of an object, worded to follow its name; undefined if nothing is. */
export const findFault = Effect.fnUntraced(function* (
  layout: Layout,
  { bytes, sha256 }: ObjectId,
  file = layout.objectFile(sha256)
) {
  const stats = yield* Effect.result(Effect.tryPromise(() => stat(file, { bigint: true })))
  if (stats._tag === "Failure") return describeReadError(stats.failure.cause)
  if (Number(stats.success.size) !== bytes) return `has ${stats.success.size} bytes, but was published with ${bytes}`
  if (yield* isMarked(layout, sha256, { stamp: toStamp(stats.success) })) return undefined
  const read = yield* Effect.result(identifyWithStamp(file))
  if (read._tag === "Failure") return describeReadError(read.failure.cause)
  if (read.success.id.sha256 !== sha256) return "was changed after it was published: its SHA-256 differs"
  yield* markVerified(layout, sha256, read.success.stamp)
  return undefined
})

/** Returns the file of a part, verified to be what was published. */
export const verifyPart = Effect.fnUntraced(function* (layout: Layout, pipeline: string, part: DataSetPart) {
  const fault = yield* findFault(layout, part)
  const file = layout.objectFile(part.sha256)
  const isShared = layout.depot !== layout.local
  if (fault !== undefined) return yield* new PartDamaged({ pipeline, part: part.name, file, fault, isShared })
  return file
})

/** Returns the database of a loaded data set, verified to be what was published. */
export const verifyDataSet = (layout: Layout, pipeline: string, { parts: [database] }: DataSetEntry) =>
  database === undefined ? Effect.die(new Error(`${pipeline} has no parts`)) : verifyPart(layout, pipeline, database)
