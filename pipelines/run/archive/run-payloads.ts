/**
 * Payloads as files that a run reads: they are hashed as they arrive, and each is in a folder of the run until the run ends, so that another run cannot
 * take it away, by packing it or by replacing a damaged one. A loose payload gets a hard link there, which costs
 * nothing; a packed one is unpacked. Everything from the archive is compared with its hash first.
 */
import { randomUUID } from "node:crypto"
import { rmdir } from "node:fs/promises"
import { ifMissing, makeDigest } from "@larder/warehouse"
import { Effect, FileSystem, Path, type PlatformError, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"
import type { SourceResponse } from "../origins/origin.ts"
import { requireWhole } from "../origins/transport.ts"
import { newWorkName } from "./incoming.ts"
import type { PackedPayloads, PayloadFault } from "./packs/packed-payloads.ts"

/** Path of a loose payload, relative to the archive, with `/`. */
export const looseName = (sha256: string) => `${sha256.slice(0, 2)}/${sha256}`

interface Places {
  /** The archive. */
  readonly root: string
  /** Folder of the run, made when needed. It is on the disk of the archive if the run writes there. */
  readonly own: string
  readonly packed: PackedPayloads
}

/** Copies if the file system has no hard links, or if it is another disk. */
const linkOrCopy = Effect.fnUntraced(function* (from: string, to: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.catch(fs.link(from, to), () => fs.copyFile(from, to))
})

/** In constant memory. */
const sha256Of = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const digest = makeDigest()
  yield* Stream.runForEach(fs.stream(file, { chunkSize: pieceBytes }), (piece) => Effect.sync(() => digest.add(piece)))
  return digest.end().sha256
})

/**
 * Streams a payload to the archive's disk, and fails if it is not as long as announced. The part exists until the scope
 * closes: move it before that.
 */
export const receive = Effect.fnUntraced(function* (
  folder: string,
  url: string,
  { body, file, total }: Pick<SourceResponse, "body" | "file" | "total">,
  onBytes: (bytes: number) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const part = path.join(folder, newWorkName("part"))
  yield* Effect.addFinalizer(() =>
    Effect.catch(fs.remove(part, { force: true }), (error) => Effect.logWarning(`${part} is left: ${error.message}`))
  )
  const digest = makeDigest()
  const count = (piece: Uint8Array) =>
    Effect.suspend(() => {
      digest.add(piece)
      return onBytes(piece.length)
    })
  const copy = Effect.fnUntraced(function* (from: string) {
    // an interrupted copy would continue, and leave its file behind
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
  return { part, ...(yield* requireWhole(url, total, digest.end())) }
})

/** Removes a folder of loose payloads that is empty now. A folder that another run has just used stays. */
export const removeIfEmpty = (folder: string) => Effect.ignore(Effect.tryPromise(() => rmdir(folder)))

export const runPayloads = Effect.fnUntraced(function* ({ own, packed, root }: Places) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  /** Payloads that are in the folder of the run. */
  const ready = new Set<string>()
  const fileOf = (sha256: string) => path.join(own, sha256)
  const looseFile = (sha256: string) => path.join(root, looseName(sha256))
  yield* Effect.addFinalizer(() =>
    Effect.catch(fs.remove(own, { recursive: true, force: true }), (error) =>
      Effect.logWarning(`the next run removes ${own}: ${error.message}`)
    )
  )

  /** A unique name: two callers may ask for the same payload at the same time. */
  const newName = (sha256: string) =>
    Effect.as(fs.makeDirectory(own, { recursive: true }), path.join(own, `${sha256}.${randomUUID()}`))

  const toOwn = Effect.fnUntraced(function* (sha256: string, file: string) {
    yield* fs.rename(file, fileOf(sha256))
    ready.add(sha256)
    return { path: fileOf(sha256) }
  })

  /** Fails if there is no such file. */
  const fromLoose = Effect.fnUntraced(function* (sha256: string, name: string) {
    const file = looseFile(sha256)
    yield* linkOrCopy(file, name)
    const found = yield* sha256Of(name)
    if (found === sha256) return yield* toOwn(sha256, name)
    return { file, problem: "has other bytes than were fetched: its SHA-256 is not its name" } satisfies PayloadFault
  })
  const orFault = (sha256: string) =>
    Effect.catch(({ message, reason }: PlatformError.PlatformError) =>
      Effect.succeed(
        reason._tag === "NotFound"
          ? undefined
          : ({ file: looseFile(sha256), problem: `cannot be read (${message})` } satisfies PayloadFault)
      )
    )

  const fromPacks = Effect.fnUntraced(function* (sha256: string, name: string) {
    yield* fs.remove(name, { force: true })
    const fault = yield* packed.extract(sha256, name)
    return fault ?? (yield* toOwn(sha256, name))
  })

  /** The payload as a file, or why it is not available: it is damaged, or neither loose nor in a pack. */
  const provide = Effect.fnUntraced(function* (sha256: string) {
    if (ready.has(sha256)) return { path: fileOf(sha256) }
    const name = yield* newName(sha256)
    const loose = yield* fromLoose(sha256, name).pipe(orFault(sha256))
    if (loose !== undefined && "path" in loose) return loose
    const unpacked = yield* fromPacks(sha256, name)
    if (unpacked !== "absent") return unpacked
    return loose ?? ({ file: looseFile(sha256), problem: "is missing, and no pack holds it" } satisfies PayloadFault)
  })

  /** Makes the part of a payload that has just arrived a file of the run. */
  const receive = Effect.fnUntraced(function* (sha256: string, part: string) {
    if (ready.has(sha256)) return
    yield* fs.makeDirectory(own, { recursive: true })
    yield* toOwn(sha256, part)
  })

  /** Another run may remove the folder between the two steps, after it has packed everything in it. */
  const moveIn = (file: string, target: string) =>
    Effect.andThen(fs.makeDirectory(path.dirname(target), { recursive: true }), fs.rename(file, target)).pipe(
      Effect.retry({ times: 10, while: ({ reason }) => reason._tag === "NotFound" })
    )

  /** A loose file with this name is the payload, unless a failing disk changed it. */
  const isLoose = (sha256: string) =>
    sha256Of(looseFile(sha256)).pipe(
      Effect.map((found) => found === sha256),
      ifMissing(false)
    )

  /** Keeps a payload loose in the archive, unless it is there. Returns the loose file; undefined if a pack holds it. */
  const keep = Effect.fnUntraced(function* (sha256: string) {
    if (yield* isLoose(sha256)) return looseFile(sha256)
    if (yield* packed.isWhole(sha256)) return undefined
    const name = yield* newName(sha256)
    yield* linkOrCopy(fileOf(sha256), name)
    yield* moveIn(name, looseFile(sha256)) // also replaces a damaged one
    return looseFile(sha256)
  })

  return { provide, receive, keep, fileOf, looseFile, used: ready as ReadonlySet<string> }
})
export type RunPayloads = Effect.Success<ReturnType<typeof runPayloads>>
