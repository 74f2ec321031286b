/**
 * Payloads as files that a run reads. They are hashed as they arrive, and stay in a folder of the run until it ends:
 * another run cannot remove them by compressing them or by replacing a damaged one. A payload that the archive stores as
 * fetched gets a hard link there, a compressed one is decompressed. Everything from the archive is compared with its
 * hash first.
 */

import { randomUUID } from "node:crypto"
import path from "node:path"
import { makeDigest, readPieces, syncFile, syncFolder } from "@larder/warehouse"
import { Effect, FileSystem, type PlatformError, Stream } from "effect"
import { FileUnwritable } from "../files/write-all.ts"
import type { SourceResponse } from "../origins/origin.ts"
import { requireComplete } from "../origins/transport.ts"
import { compress, isCompressible } from "./compression.ts"
import { newWorkName } from "./incoming.ts"
import { compressedFile, findIntact, plainFile, readStored } from "./stored-payloads.ts"

/**
 * A larger payload is compressed only at the end of its run: the CSV files of a release of branded foods
 * have 3 GB, and compressing one of them takes 15 s.
 */
export const minLargeBytes = 16 * 1024 * 1024

interface PayloadFolders {
  readonly root: string
  /** Folder of the run, created when needed. It is on the disk of the archive if the run writes there. */
  readonly runFolder: string
}

/** Copies if the file system has no hard links, or if it is another disk. */
const linkOrCopy = Effect.fnUntraced(function* (from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.catch(fs.link(from, to), () => fs.copyFile(from, to))
})

/** Streams a payload into a part, which the caller moves before the scope closes. Fails if it is incomplete. */
export const receivePart = Effect.fnUntraced(function* (
  folder: string,
  url: string,
  { body, file, total }: Pick<SourceResponse, "body" | "file" | "total">,
  onBytes: (bytes: number) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  const part = path.join(folder, newWorkName("part"))
  yield* Effect.addFinalizer(() =>
    Effect.catch(fs.remove(part, { force: true }), (error) =>
      Effect.logWarning(`${part} could not be removed: ${error.message}`)
    )
  )
  const digest = makeDigest()
  const count = (piece: Uint8Array) =>
    Effect.suspend(() => {
      digest.add(piece)
      return onBytes(piece.length)
    })
  const copy = Effect.fnUntraced(function* (from: string) {
    // an interrupted copy would continue, and its file would remain
    yield* Effect.uninterruptible(Effect.andThen(fs.copyFile(from, part), fs.chmod(part, 0o644)))
    const pieces = Stream.fromAsyncIterable(readPieces(part), (cause) => new FileUnwritable({ file: part, cause }))
    yield* Stream.runForEach(pieces, count) // hashes the copy: the original may change
  })
  const write = Effect.gen(function* () {
    const opened = yield* fs.open(part, { flag: "wx" })
    // writing and hashing overlap
    const take = (piece: Uint8Array) => Effect.all([opened.writeAll(piece), count(piece)], { concurrency: 2 })
    yield* body.pipe(Stream.buffer({ capacity: 1 }), Stream.runForEach(take))
  })
  yield* file === undefined ? Effect.scoped(write) : copy(file) // closed before it is moved
  return { part, ...(yield* requireComplete(url, total, digest.end())) }
})

export const openRunPayloads = Effect.fnUntraced(function* ({ runFolder, root }: PayloadFolders) {
  const fs = yield* FileSystem.FileSystem
  const ready = new Set<string>()
  const fileOf = (sha256: string) => path.join(runFolder, sha256)
  yield* Effect.addFinalizer(() =>
    Effect.catch(fs.remove(runFolder, { recursive: true, force: true }), (error) =>
      Effect.logWarning(`the next run removes ${runFolder}: ${error.message}`)
    )
  )

  /** Makes the folder. The path is unique, because two callers may request the same payload at the same time. */
  const newPath = (sha256: string) =>
    Effect.as(fs.makeDirectory(runFolder, { recursive: true }), path.join(runFolder, `${sha256}.${randomUUID()}`))

  const moveToRun = Effect.fnUntraced(function* (sha256: string, file: string) {
    yield* fs.rename(file, fileOf(sha256))
    ready.add(sha256)
    return { path: fileOf(sha256) }
  })

  /** Returns the payload as a file, or why it is not available: its files are missing or damaged. */
  const provide = Effect.fnUntraced(function* (sha256: string) {
    if (ready.has(sha256)) return { path: fileOf(sha256) }
    const copy = yield* newPath(sha256)
    const unwritable = ({ reason }: PlatformError.PlatformError) =>
      new FileUnwritable({ file: copy, cause: reason.cause ?? reason })
    const take = Effect.fnUntraced(function* (file: string) {
      yield* Effect.mapError(fs.remove(copy, { force: true }), unwritable) // what another file left
      const isLinked = file === plainFile(root, sha256) && (yield* Effect.isSuccess(fs.link(file, copy)))
      return yield* isLinked ? readStored(copy) : readStored(file, copy) // a full disk is no damage of the payload
    })
    const found = yield* findIntact(root, sha256, take)
    return typeof found === "string" ? yield* moveToRun(sha256, copy) : found
  })

  const receive = Effect.fnUntraced(function* (sha256: string, part: string) {
    if (ready.has(sha256)) return
    yield* fs.makeDirectory(runFolder, { recursive: true })
    yield* moveToRun(sha256, part)
  })

  /** Gives a complete file its name in the archive, once its bytes are on the disk. */
  const place = Effect.fnUntraced(function* (part: string, file: string) {
    yield* syncFile(part)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.rename(part, file) // also replaces a damaged one
    yield* syncFolder(path.dirname(file))
  })

  /** Compresses a payload of the run. Its plain file is removed once the compressed one has been read back. */
  const storeCompressed = Effect.fnUntraced(function* (sha256: string) {
    const source = fileOf(sha256)
    const part = `${yield* newPath(sha256)}.zst`
    yield* compress(source, part, Number((yield* fs.stat(source)).size))
    const actual = yield* readStored(part).pipe(
      Effect.catchTag("StoredUnreadable", ({ cause }) => Effect.fail(new FileUnwritable({ file: part, cause })))
    )
    if (actual !== sha256) {
      const cause = new Error("the compressed file has other bytes than the payload")
      return yield* new FileUnwritable({ file: part, cause })
    }
    yield* place(part, compressedFile(root, sha256))
    yield* fs.remove(plainFile(root, sha256), { force: true })
  })

  const storePlain = Effect.fnUntraced(function* (sha256: string) {
    const part = yield* newPath(sha256)
    yield* linkOrCopy(fileOf(sha256), part)
    yield* place(part, plainFile(root, sha256))
  })

  /** Stores a payload of the run in the archive, unless it is there, and waits until it is on the disk. */
  const store = Effect.fnUntraced(function* (sha256: string) {
    const file = fileOf(sha256)
    const stored = yield* findIntact(root, sha256, readStored)
    if (typeof stored === "string") {
      yield* syncFolder(path.dirname(stored)) // a run may have been killed before it did this
    } else {
      const isSmall = (yield* fs.stat(file)).size < minLargeBytes
      const compresses = isSmall && (yield* isCompressible(file))
      yield* compresses ? storeCompressed(sha256) : storePlain(sha256)
    }
    yield* syncFolder(root)
  })

  return { provide, receive, store, storeCompressed, fileOf }
})
export type RunPayloads = Effect.Success<ReturnType<typeof openRunPayloads>>
