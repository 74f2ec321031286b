/**
 * Files on the disk. Written data survives a power cut only after it was flushed: the bytes of a file, and the names in
 * a folder. A file that others read appears in its place whole, or not at all. Files are compared by SHA-256 and length.
 */
import { createHash, randomUUID } from "node:crypto"
import { Effect, FileSystem, Path } from "effect"

/** On Windows a flush requires write access. Elsewhere it does not, and the owner may have removed write access. */
const flag = process.platform === "win32" ? "r+" : "r"

const flush = (at: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.scoped(Effect.flatMap(fs.open(at, { flag }), (opened) => opened.sync))
  )

export const syncFile = flush

/** Windows cannot flush a folder. */
export const syncFolder = (at: string) => (process.platform === "win32" ? Effect.void : flush(at))

/** SHA-256 and length of bytes that arrive in pieces. */
export const makeDigest = () => {
  const hash = createHash("sha256")
  let bytes = 0
  return {
    /** Returns the length so far. */
    add: (piece: Uint8Array) => {
      hash.update(piece)
      bytes += piece.length
      return bytes
    },
    end: () => ({ sha256: hash.digest("hex"), bytes })
  }
}

/** Whether the reason of a failure, as DuckDB or the system words it, is a full disk. */
export const isDiskFull = (reason: string): boolean => /No space left|ENOSPC|File too large|EFBIG|quota/i.test(reason)

/**
 * Lets `make` write a file beside `file`, then puts it there in one step, and replaces an existing one. Readers that
 * have the old file open keep it. The new one is read-only, so that no program writes to it by mistake.
 */
export const wholeFile = Effect.fnUntraced(function* <E, R>(
  file: string,
  make: (part: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // A killed process leaves this file behind. That of the catalogue is removed with the next generation.
  const part = `${file}.${randomUUID()}.building`
  const tidyUp = Effect.forEach(
    [part, `${part}.wal`, `${part}.tmp`],
    (left) => Effect.ignore(fs.remove(left, { recursive: true, force: true })),
    { discard: true }
  )
  yield* Effect.gen(function* () {
    yield* make(part)
    yield* syncFile(part)
    yield* fs.chmod(part, 0o444)
    yield* fs.rename(part, file)
    yield* syncFolder(path.dirname(file))
  }).pipe(Effect.ensuring(tidyUp))
})
