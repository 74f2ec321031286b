/**
 * Working files of runs, in a folder of the archive, on the same disk as their final place.
 * `<machine>.<process>.<random>.part` is a file that is being received or a pack that is being written, and `….run` is
 * the folder with the payloads that a run reads. Payloads are hashed as they arrive, and nothing outlives its scope.
 * The next run removes what a killed run left. Downloads that a later run resumes have folders of their own, see
 * `resumable.ts`.
 */
import { createHash, randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { Clock, Effect, FileSystem, Option, Path, Stream } from "effect"
import { pieceBytes } from "../files/chunk-size.ts"

/** A part without writes for an hour is abandoned: a body that stalls is given up within minutes. */
export const abandonedAfter = 3_600_000

/** A run may read payloads hours after it fetched them. */
const runAbandonedAfter = 7 * 86_400_000

const workName = /^(.+)\.(\d+)\.[0-9a-f-]{36}\.(part|run)$/

/** Folders of the runs of this process. A process of an earlier container may have had the same process id. */
const ours = new Set<string>()

/** A name that identifies the machine and process of its owner. */
export const newWorkName = (kind: "part" | "run") => `${hostname()}.${process.pid}.${randomUUID()}.${kind}`

export const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && Reflect.get(error, "code") === "EPERM" // alive, and owned by another user
  }
}

/** The name of a folder for this run alone. The caller that makes the folder removes it before the scope closes. */
export const runFolder = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const name = newWorkName("run")
  yield* Effect.acquireRelease(
    Effect.sync(() => ours.add(name)),
    () => Effect.sync(() => ours.delete(name))
  )
  return path.join(folder, name)
})

/** Removes what dead processes of this machine left, and what is old from any: machines may share the folder. */
export const clearAbandoned = Effect.fn("Incoming.clearAbandoned")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  for (const name of yield* fs.readDirectory(folder)) {
    const [, machine, pid, kind] = workName.exec(name) ?? []
    if (machine === undefined || ours.has(name)) continue
    const isRun = kind === "run"
    const part = path.join(folder, name)
    const info = yield* Effect.option(fs.stat(part)) // none: its own run has just removed or moved it
    const writtenAt = Option.flatMap(info, ({ mtime }) => mtime)
    const isOld = Option.exists(writtenAt, (at) => now - at.getTime() > (isRun ? runAbandonedAfter : abandonedAfter))
    const isDead = machine === hostname() && (!isAlive(Number(pid)) || (isRun && Number(pid) === process.pid))
    if (!isDead && !isOld) continue
    yield* fs.remove(part, { recursive: true, force: true })
    yield* Effect.logInfo("removed what an earlier run left").pipe(Effect.annotateLogs({ part: name }))
  }
})

/** Streams a payload to the archive's disk. The part exists until the scope closes: move it before that. */
export const receive = Effect.fnUntraced(function* <E, R>(
  folder: string,
  { body, file }: { readonly body: Stream.Stream<Uint8Array, E, R>; readonly file?: string },
  onBytes: (bytes: number) => Effect.Effect<void>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const part = path.join(folder, newWorkName("part"))
  yield* Effect.addFinalizer(() =>
    Effect.catch(fs.remove(part, { force: true }), (error) => Effect.logWarning(`${part} is left: ${error.message}`))
  )
  const hash = createHash("sha256")
  let bytes = 0
  const count = Effect.fnUntraced(function* (piece: Uint8Array) {
    hash.update(piece)
    bytes += piece.length
    yield* onBytes(piece.length)
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
  return { part, sha256: hash.digest("hex"), bytes }
})
