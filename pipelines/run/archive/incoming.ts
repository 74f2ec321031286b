/**
 * Working files of runs, in a folder of the archive, on the same disk as their final place. Their names identify the
 * writer: `<machine>.<process>.<random>.part` is a file that is being received, `….run` the folder with the payloads that a
 * run reads and the files that it is about to store, and `<key>.….resumable` the folder of a download that a later run
 * resumes (`resumable.ts`). The next run removes what a killed run left.
 */

import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import path from "node:path"
import { Clock, Effect, FileSystem, Option } from "effect"
import { codeOf } from "../files/causes.ts"

const workName = /^(?:([0-9a-f]{32})\.)?(.+)\.(\d+)\.[0-9a-f-]{36}\.(part|run|resumable)$/

type WorkKind = "part" | "run" | "resumable"

const day = 86_400_000

/**
 * Milliseconds without writes after which another machine's work is abandoned: a stalled body is aborted within
 * minutes, and a run may read payloads hours after it fetched them.
 */
const abandonedAfter: Readonly<Record<WorkKind, number>> = { part: 3_600_000, run: 7 * day, resumable: 3_600_000 }

/** A release is superseded after months. */
const maxResumableAge = 7 * day

/** Names of the folders that this process uses. A process of an earlier container may have had the same process id. */
const ownNames = new Set<string>()

export const newWorkName = (kind: WorkKind) => `${hostname()}.${process.pid}.${randomUUID()}.${kind}`

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === "EPERM" // alive, and owned by another user
  }
}

/** Returns the path of a folder that counts as in use until the scope closes. The caller makes and removes the folder. */
export const reserveFolder = (incoming: string, name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      ownNames.add(name)
      return path.join(incoming, name)
    }),
    () => Effect.sync(() => ownNames.delete(name))
  )

const inspect = Effect.fnUntraced(function* (incoming: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const [, key, machine, process_id, kind] = workName.exec(name) ?? []
  if (kind !== "part" && kind !== "run" && kind !== "resumable") return undefined
  const body = fs.stat(path.join(incoming, name, "body"))
  const info = yield* Effect.option(Effect.catch(body, () => fs.stat(path.join(incoming, name))))
  if (Option.isNone(info)) return undefined // another run resumes it, or has removed it
  const { mtime, size, type } = info.value
  const age = (yield* Clock.currentTimeMillis) - Option.getOrElse(mtime, () => new Date(0)).getTime()
  const pid = Number(process_id)
  const isDead = machine === hostname() && (!isAlive(pid) || (kind !== "part" && pid === process.pid))
  const isInUse = ownNames.has(name) || (!isDead && age < abandonedAfter[kind])
  return { name, key, kind, bytes: type === "File" ? Number(size) : 0, age, isInUse }
})

/** Lists the files and folders that no run uses any more. */
export const listUnused = Effect.fnUntraced(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* Effect.forEach(yield* fs.readDirectory(incoming), (name) => inspect(incoming, name))
  return found.flatMap((work) => (work === undefined || work.isInUse ? [] : [work]))
})

/** Removes what killed runs left, including those on other machines: machines may share the folder. */
export const clearAbandoned = Effect.fn("Incoming.clearAbandoned")(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  for (const { age, kind, name } of yield* listUnused(incoming)) {
    if (kind === "resumable" && age < maxResumableAge) continue
    yield* fs.remove(path.join(incoming, name), { recursive: true, force: true })
    yield* Effect.logInfo("removed what an earlier run left", { part: name })
  }
})
