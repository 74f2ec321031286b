/**
 * Parts on this machine. A part is verified against its SHA-256 before a server serves it and before a run builds on it,
 * so a modified part is never used. Files that were verified before are recognised by size,
 * inode and modification time, which is quick. The change time is not used, because every new hard link sets it.
 */
import { createReadStream } from "node:fs"
import { mkdir, readFile, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Schema } from "effect"
import type { ObjectId } from "../depot/depot.ts"
import { makeDigest } from "../disk.ts"
import type { Layout } from "./layout.ts"
import type { DataSetEntry, Part } from "./manifest.ts"

/** A part differs from what was published. */
export class PartDamaged extends Schema.TaggedError<PartDamaged>()("PartDamaged", {
  pipeline: Schema.String,
  part: Schema.String,
  file: Schema.String,
  /** What is wrong with it, worded to follow its name. */
  fault: Schema.String,
  /** Whether a shared depot may have the part. */
  isShared: Schema.Boolean
}) {
  override get message() {
    const { fault, file, isShared, part, pipeline } = this
    const again = isShared ? "Pull it again with: npx larder-ingest pull; or rebuild it" : "Rebuild it"
    return `${part} of ${pipeline} (${file}) ${fault}. It is not used. ${again} from the raw archive with: npx larder-ingest rebuild ${pipeline}; or go back with: npx larder-ingest rollback --only ${pipeline}`
  }
}

/** SHA-256 and size of a file, in constant memory. */
export const objectIdOf = (file: string) =>
  Effect.tryPromise(async (): Promise<ObjectId> => {
    const digest = makeDigest()
    const { size } = await stat(file)
    const highWaterMark = Math.min(Math.max(size, 1), 1 << 20) // the whole buffer is allocated, also for a small file
    for await (const chunk of createReadStream(file, { highWaterMark })) digest.add(chunk)
    return digest.end()
  })

/** A stamp that changes when a file is written to. */
export const stampOf = async (file: string) => {
  const { ino, mtimeNs, size } = await stat(file, { bigint: true })
  return `${size} ${ino} ${mtimeNs}`
}

const seenFile = ({ seen }: Layout, sha256: string) => path.join(seen, sha256)

/**
 * SHA-256 and size of a file, and its stamp from before it was read: a file that changes meanwhile has another stamp
 * afterwards.
 */
export const stampedId = Effect.fnUntraced(function* (file: string) {
  const stamp = yield* Effect.tryPromise(() => stampOf(file))
  return { stamp, id: yield* objectIdOf(file) }
})

/**
 * Notes that the file with this stamp has this SHA-256. If the note is not written, or only in part, the file is read
 * again next time.
 */
export const noteSeen = (layout: Layout, sha256: string, stamp: string) =>
  Effect.promise(async () => {
    try {
      await mkdir(layout.seen, { recursive: true })
      await writeFile(seenFile(layout, sha256), `${stamp}\n`)
    } catch {
      // the folder is read-only
    }
  })

const wasSeen = async (layout: Layout, sha256: string, file: string) => {
  const noted = await readFile(seenFile(layout, sha256), "utf8").catch(() => undefined)
  return noted !== undefined && noted === `${await stampOf(file)}\n`
}

const unreadable = (cause: unknown) =>
  cause instanceof Error && "code" in cause && cause.code === "ENOENT"
    ? "is missing"
    : `cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`

/** What is wrong with the file of an object, worded to follow its name; undefined if it is what was put. */
export const faultOf = Effect.fnUntraced(function* (
  layout: Layout,
  { bytes, sha256 }: ObjectId,
  file = layout.objectFile(sha256)
) {
  const found = yield* Effect.result(Effect.tryPromise(() => stat(file)))
  if (found._tag === "Failure") return unreadable(found.failure.cause)
  const { size } = found.success
  if (size !== bytes) return `has ${size} bytes, but was published with ${bytes}`
  if (yield* Effect.promise(() => wasSeen(layout, sha256, file).catch(() => false))) return undefined
  const read = yield* Effect.result(stampedId(file))
  if (read._tag === "Failure") return unreadable(read.failure.cause)
  if (read.success.id.sha256 !== sha256) return "was changed after it was published: it has another SHA-256"
  yield* noteSeen(layout, sha256, read.success.stamp)
  return undefined
})

/** The file of a part, verified to be what was published. */
export const verifiedPart = Effect.fnUntraced(function* (layout: Layout, pipeline: string, part: Part) {
  const fault = yield* faultOf(layout, part)
  const file = layout.objectFile(part.sha256)
  const isShared = layout.depot !== layout.local
  if (fault !== undefined) return yield* new PartDamaged({ pipeline, part: part.name, file, fault, isShared })
  return file
})

/** The database of a loaded data set, verified to be what was published. */
export const verifiedDatabase = (layout: Layout, pipeline: string, { parts: [database] }: DataSetEntry) =>
  database === undefined ? Effect.die(new Error(`${pipeline} has no parts`)) : verifiedPart(layout, pipeline, database)
