/**
 * Payloads in the archive: each is one file, named by its SHA-256, in a folder of the first two digits. `ab/ab12….zst` is
 * compressed with Zstandard, and `ab/ab12…` has the bytes as fetched. A file is used only if it has the bytes of its name.
 */
import { createReadStream } from "node:fs"
import { open, stat } from "node:fs/promises"
import path from "node:path"
import { addAbortSignal, pipeline, type Readable } from "node:stream"
import { createZstdDecompress, type ZstdDecompress } from "node:zlib"
import { makeDigest } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { codeOf, reasonOf } from "../files/causes.ts"
import { pieceBytes } from "../files/chunk-size.ts"
import { stoppable } from "../files/stoppable.ts"
import { FileUnwritable, writeAll } from "../files/write-all.ts"
import { RawFileDamaged } from "./fetch-list.ts"

const compressedEnding = ".zst"

/** The file of a payload that has the bytes as fetched. */
export const plainFile = (root: string, sha256: string) => path.join(root, sha256.slice(0, 2), sha256)

export const compressedFile = (root: string, sha256: string) => plainFile(root, sha256) + compressedEnding

/**
 * Both files that a payload can have. The plain one is looked for first: while a large payload is compressed, the
 * compressed file gets its name before the plain one is removed.
 */
export const possibleFiles = (root: string, sha256: string) => [plainFile(root, sha256), compressedFile(root, sha256)]

/** The bytes of a stored payload as fetched. A damaged file may return others: only their hash shows it. */
const openStored = (
  file: string,
  signal?: AbortSignal
): { readonly bytes: Readable; readonly zstd?: ZstdDecompress } => {
  const stored = createReadStream(file, { highWaterMark: pieceBytes })
  if (signal !== undefined) addAbortSignal(signal, stored)
  if (!file.endsWith(compressedEnding)) return { bytes: stored }
  const zstd = createZstdDecompress({ chunkSize: pieceBytes })
  return { bytes: pipeline(stored, zstd, () => {}), zstd } // the reader gets the error
}

const readToEnd = async (file: string, target: string | undefined, signal: AbortSignal) => {
  const unwritable = (cause: unknown): never => {
    throw new FileUnwritable({ file: String(target), cause })
  }
  const info = await stat(file)
  if (!info.isFile()) throw new Error("it is not a regular file") // a FIFO would be read forever
  const digest = makeDigest()
  const opened = target === undefined ? undefined : await open(target, "wx").catch(unwritable)
  try {
    const { bytes, zstd } = openStored(file, signal)
    for await (const piece of bytes) {
      digest.add(piece)
      if (opened !== undefined) await writeAll(opened, piece).catch(unwritable)
    }
    // Node reads one frame, and ignores the rest of the file
    if (zstd !== undefined && zstd.bytesWritten !== info.size) throw new Error("other bytes follow its Zstandard frame")
  } finally {
    await opened?.close()
  }
  return digest.end().sha256
}

class StoredUnreadable extends Schema.TaggedError<StoredUnreadable>()("StoredUnreadable", {
  cause: Schema.Defect()
}) {}

/** Reads a stored payload to its end, into a new file if `target` is given. Returns the SHA-256 of its bytes. */
export const readStored = (file: string, target?: string): Effect.Effect<string, FileUnwritable | StoredUnreadable> =>
  stoppable(
    (signal) => readToEnd(file, target, signal),
    (cause) => (cause instanceof FileUnwritable ? cause : new StoredUnreadable({ cause }))
  )

export interface PayloadFault {
  readonly file: string
  readonly problem: string
}

/**
 * Returns the file that has the bytes of a payload, or why there is none. `read` returns the SHA-256 of the bytes of a
 * file; it may copy them.
 */
export const findIntact = Effect.fnUntraced(function* <R>(
  root: string,
  sha256: string,
  read: (file: string) => Effect.Effect<string, FileUnwritable | StoredUnreadable, R>
) {
  let fault: PayloadFault = { file: plainFile(root, sha256), problem: "is missing, with and without the ending .zst" }
  for (const file of possibleFiles(root, sha256)) {
    const problem = yield* read(file).pipe(
      Effect.map((actual) => (actual === sha256 ? undefined : "has other bytes than were fetched")),
      Effect.catchTag("StoredUnreadable", ({ cause }) =>
        Effect.succeed(codeOf(cause) === "ENOENT" ? "is missing" : `cannot be read (${reasonOf(cause)})`)
      )
    )
    if (problem === undefined) return file
    if (problem !== "is missing") fault = { file, problem }
  }
  return fault
})

/** The bytes of a payload, after all of them have been compared with its hash. */
export const openPayload = Effect.fnUntraced(function* (root: string, sha256: string) {
  const found = yield* findIntact(root, sha256, readStored)
  return typeof found === "string" ? openStored(found).bytes : yield* new RawFileDamaged(found)
})
