/**
 * Payloads as files that a run reads. They are hashed as they arrive, and stay in a folder of the run until it ends:
 * another run cannot remove them by packing them or by replacing a damaged one. A loose payload gets a hard link there,
 * a packed one is unpacked. Everything from the archive is compared with its hash first.
 */

import { randomUUID } from "node:crypto"
import { rmdir } from "node:fs/promises"
import path from "node:path"
import { ifMissing, makeDigest } from "@larder/warehouse"
import { Effect, FileSystem, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"
import type { SourceResponse } from "../origins/origin.ts"
import { requireComplete } from "../origins/transport.ts"
import { newWorkName } from "./incoming.ts"
import type { PackedPayloads, PayloadFault } from "./packs/packed-payloads.ts"

/** Path of a loose payload, relative to the archive, with `/`. */
export const looseName = (sha256: string) => `${sha256.slice(0, 2)}/${sha256}`

interface PayloadFolders {
  readonly root: string
  /** Folder of the run, created when needed. It is on the disk of the archive if the run writes there. */
  readonly runFolder: string
  readonly packed: PackedPayloads
}

/** Copies if the file system has no hard links, or if it is another disk. */
const linkOrCopy = Effect.fnUntraced(function* (from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.catch(fs.link(from, to), () => fs.copyFile(from, to))
})

const hashFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const digest = makeDigest()
  yield* Stream.runForEach(fs.stream(file, { chunkSize: pieceBytes }), (piece) => Effect.sync(() => digest.add(piece)))
  return digest.end().sha256
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
    yield* Stream.runForEach(fs.stream(part, { chunkSize: pieceBytes }), count) // hashes the copy: the original may change
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

export const removeIfEmpty = (folder: string) => Effect.ignore(Effect.tryPromise(() => rmdir(folder)))

export const openRunPayloads = Effect.fnUntraced(function* ({ runFolder, packed, root }: PayloadFolders) {
  const fs = yield* FileSystem.FileSystem
  const ready = new Set<string>()
  const fileOf = (sha256: string) => path.join(runFolder, sha256)
  const looseFile = (sha256: string) => path.join(root, looseName(sha256))
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

  const provideLoose = Effect.fnUntraced(function* (sha256: string, name: string) {
    const file = looseFile(sha256)
    yield* linkOrCopy(file, name)
    if ((yield* hashFile(name)) === sha256) return yield* moveToRun(sha256, name)
    return { file, problem: "has other bytes than were fetched: its SHA-256 is not its name" } satisfies PayloadFault
  })
  const providePacked = Effect.fnUntraced(function* (sha256: string, name: string) {
    yield* fs.remove(name, { force: true })
    const fault = yield* packed.extract(sha256, name)
    return fault ?? (yield* moveToRun(sha256, name))
  })

  /** Returns the payload as a file, or why it is not available: it is damaged, or neither loose nor in a pack. */
  const provide = Effect.fnUntraced(function* (sha256: string) {
    if (ready.has(sha256)) return { path: fileOf(sha256) }
    const name = yield* newPath(sha256)
    const loose = yield* Effect.catch(provideLoose(sha256, name), ({ message, reason }) => {
      const problem = reason._tag === "NotFound" ? "is missing, and no pack contains it" : `cannot be read (${message})`
      return Effect.succeed({ file: looseFile(sha256), problem } satisfies PayloadFault)
    })
    if ("path" in loose) return loose
    const unpacked = yield* providePacked(sha256, name)
    return unpacked === "absent" ? loose : unpacked
  })

  const receive = Effect.fnUntraced(function* (sha256: string, part: string) {
    if (ready.has(sha256)) return
    yield* fs.makeDirectory(runFolder, { recursive: true })
    yield* moveToRun(sha256, part)
  })

  /** Another run may remove the folder between the two steps, after it has packed everything in it. */
  const moveWithFolder = (file: string, target: string) =>
    Effect.andThen(fs.makeDirectory(path.dirname(target), { recursive: true }), fs.rename(file, target)).pipe(
      Effect.retry({ times: 10, while: ({ reason }) => reason._tag === "NotFound" })
    )

  /** A loose file with this name is the payload, unless a failing disk changed it. */
  const isLoose = (sha256: string) =>
    hashFile(looseFile(sha256)).pipe(
      Effect.map((found) => found === sha256),
      ifMissing(false)
    )

  /** Stores a payload loose in the archive, unless it is there. Returns the loose file; undefined if a pack has it. */
  const store = Effect.fnUntraced(function* (sha256: string) {
    if (yield* isLoose(sha256)) return looseFile(sha256)
    if (yield* packed.isIntact(sha256)) return undefined
    const name = yield* newPath(sha256)
    yield* linkOrCopy(fileOf(sha256), name)
    yield* moveWithFolder(name, looseFile(sha256)) // also replaces a damaged one
    return looseFile(sha256)
  })

  return { provide, receive, store, fileOf, looseFile, used: ready as ReadonlySet<string> }
})
export type RunPayloads = Effect.Success<ReturnType<typeof openRunPayloads>>
