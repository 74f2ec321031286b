/**
 * Files on the disk: flushes, atomic replacement, digests, and errors that name the file. Data survives a power failure
 * only after a flush, both of the file's bytes and of the folder's entries.
 */
import { createHash, randomUUID } from "node:crypto"
import { existsSync, mkdirSync, statSync } from "node:fs"
import { chmod, constants, copyFile, open, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Effect, FileSystem, Path, PlatformError, Schema } from "effect"

/** On Windows a flush requires write access. Elsewhere it does not, and the owner may have removed write access. */
const flag = process.platform === "win32" ? "r+" : "r"

export const syncFile = (path: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.scoped(Effect.flatMap(fs.open(path, { flag }), (opened) => opened.sync))
  )

/** Windows cannot flush a folder. */
export const syncFolder = (path: string) => (process.platform === "win32" ? Effect.void : syncFile(path))

/**
 * Creates a folder and the ones above it that are missing. Node does this, too (`recursive`), but never returns if a folder
 * cannot be created although the one above exists, as in /proc.
 */
export const makeFolders = (folder: string): void => {
  try {
    mkdirSync(folder)
  } catch (cause) {
    const code = cause instanceof Error ? Reflect.get(cause, "code") : undefined
    if (code === "EEXIST" && statSync(folder).isDirectory()) return
    const above = dirname(folder)
    if (code !== "ENOENT" || existsSync(above)) throw cause
    makeFolders(above)
    makeFolders(folder)
  }
}

/** Returns `fallback` if the file does not exist; any other failure remains. */
export const ifMissing =
  <B>(fallback: B) =>
  <A, R>(read: Effect.Effect<A, PlatformError.PlatformError, R>) =>
    Effect.catchReason(read, "PlatformError", "NotFound", () => Effect.succeed(fallback))

/** The inode of a file; undefined if there is none. */
export const readInode = (file: string) =>
  stat(file, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined
  )

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

const pieceBytes = 1 << 20

/**
 * The bytes of a file, in pieces of one buffer: each is valid until the next one is requested. The pieces of a stream are
 * new buffers, and V8 collects the garbage of the whole program for every 32 MiB of them.
 */
export async function* readPieces(file: string): AsyncGenerator<Buffer, void, undefined> {
  const opened = await open(file)
  try {
    const { size } = await opened.stat()
    const buffer = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 1), pieceBytes)) // small files are many
    for (;;) {
      const { bytesRead } = await opened.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await opened.close()
  }
}

/** The reason of the system, which is the cause of an error of the library. */
export const causeText = (cause: unknown): string => {
  if (PlatformError.isPlatformError(cause) && cause.reason.cause !== undefined) return causeText(cause.reason.cause)
  return cause instanceof Error ? cause.message : String(cause)
}

/** Whether an error message of DuckDB or the operating system means that the disk is full. */
export const isDiskFull = (reason: string): boolean => /No space left|ENOSPC|File too large|EFBIG|quota/i.test(reason)

/** A file cannot be read or written. */
export class FileOperationFailed extends Schema.TaggedError<FileOperationFailed>()("FileOperationFailed", {
  file: Schema.String,
  /** Follows the name of the file. */
  problem: Schema.String,
  cause: Schema.Defect(),
  /** The consequence for the data, as a sentence; empty if the caller adds it. */
  consequence: Schema.String
}) {
  override get message() {
    const reason = causeText(this.cause)
    const hint = isDiskFull(reason) ? " The disk is full: make room, and run again." : ""
    return `${this.file} ${this.problem}: ${reason}.${hint} ${this.consequence}`.trimEnd()
  }
}

/** Runs an operation on a file. Its error has this problem and consequence. */
export const fileOperation =
  (problem: string, consequence: string) =>
  <A>(file: string, run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => new FileOperationFailed({ file, problem, cause, consequence }) })

/** On file systems that support it, the copy shares its blocks with the original until they change. */
export const copyForWriting = async (from: string, to: string) => {
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  await chmod(to, 0o644) // published files are read-only
}

/**
 * Lets `make` write a temporary file, flushes it, and renames it to `file`, which replaces any existing file atomically.
 * Readers that have the old file open keep it. The new file is read-only, so that no program writes to it by mistake.
 */
export const writeAtomically = Effect.fnUntraced(function* <E, R>(
  file: string,
  make: (temporaryFile: string) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // A killed process leaves this file. Next to the catalogue, the next update removes it.
  const temporaryFile = `${file}.${randomUUID()}.building`
  const removeTemporaryFiles = Effect.forEach(
    ["", ".wal", ".tmp"],
    (ending) => Effect.ignore(fs.remove(`${temporaryFile}${ending}`, { recursive: true, force: true })),
    { discard: true }
  )
  yield* Effect.gen(function* () {
    yield* make(temporaryFile)
    yield* syncFile(temporaryFile)
    yield* fs.chmod(temporaryFile, 0o444)
    yield* fs.rename(temporaryFile, file)
    yield* syncFolder(path.dirname(file))
  }).pipe(Effect.ensuring(removeTemporaryFiles))
})
