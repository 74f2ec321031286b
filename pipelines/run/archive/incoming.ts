/**
 * Working files of runs, in a folder of the archive, on the same disk as their final place.
 * `<machine>.<process>.<random>.part` is a file that is being received or a pack that is being written, and `….run` is
 * the folder with the payloads that a run reads. Nothing outlives its scope; the next run removes what a killed run
 * left. `resumable.ts` has the downloads that a later run resumes.
 */
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { Clock, Effect, FileSystem, Option, Path } from "effect"
import { codeOf } from "../files/causes.ts"

/** A part without writes for an hour is abandoned: a body that stalls is given up within minutes. */
export const abandonedAfter = 3_600_000

/** A run may read payloads hours after it fetched them. */
const runAbandonedAfter = 7 * 86_400_000

const workName = /^(.+)\.(\d+)\.[0-9a-f-]{36}\.(part|run)$/

/** Folders of the runs of this process. A process of an earlier container may have had the same process id. */
const ours = new Set<string>()

export const newWorkName = (kind: "part" | "run") => `${hostname()}.${process.pid}.${randomUUID()}.${kind}`

export const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM" // alive, and owned by another user
  }
}

/** Returns a path for this run alone. The caller that makes the folder removes it before the scope closes. */
export const reserveRunFolder = Effect.fnUntraced(function* (folder: string) {
  const path = yield* Path.Path
  const name = newWorkName("run")
  yield* Effect.acquireRelease(
    Effect.sync(() => ours.add(name)),
    () => Effect.sync(() => ours.delete(name))
  )
  return path.join(folder, name)
})

/** Removes files of dead processes of this machine, and old files of any machine: machines may share the folder. */
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
