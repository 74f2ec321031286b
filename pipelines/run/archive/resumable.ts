/**
 * Downloads that outlive a run: `<key>.<machine>.<process>.<random>.resumable`, a folder beside the other incoming
 * files, with the received part of the body and its validator. The name identifies the writer; the key is derived from
 * the address. A run that resumes a download renames the folder first, which only one run can do.
 */
import { hash, randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { makeDigest } from "@larder/warehouse"
import { Cause, Clock, Effect, Exit, FileSystem, Option, Path, Schema, Stream } from "effect"
import { AnswerTooLarge, type Resume, type SourceResponse } from "../origins/origin.ts"
import { requireComplete } from "../origins/transport.ts"
import { abandonedAfter, isAlive } from "./incoming.ts"

/** A release is superseded after months. */
const maxAge = 7 * 86_400_000

const folderName = /^([0-9a-f]{32})\.(.+)\.(\d+)\.[0-9a-f-]{36}\.resumable$/

/** Folders that this process writes to. A process of an earlier container may have had the same process id. */
const ours = new Set<string>()

const About = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, validator: Schema.String, total: Schema.NullOr(Schema.Int) })
)
const decodeAbout = Schema.decodeUnknownEffect(About)

const inspect = Effect.fnUntraced(function* (incoming: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const [, key, machine, pid] = folderName.exec(name) ?? []
  if (key === undefined || machine === undefined) return undefined
  const body = fs.stat(path.join(incoming, name, "body"))
  const info = yield* Effect.option(Effect.catch(body, () => fs.stat(path.join(incoming, name))))
  if (Option.isNone(info)) return undefined // another run resumes it, or has removed it
  const { mtime, size, type } = info.value
  const age = (yield* Clock.currentTimeMillis) - Option.getOrElse(mtime, () => new Date(0)).getTime()
  const isDead = machine === hostname() && (Number(pid) === process.pid || !isAlive(Number(pid)))
  const isInUse = ours.has(name) || (!isDead && age < abandonedAfter)
  return { name, key, bytes: type === "File" ? Number(size) : 0, age, isInUse }
})

const listDownloads = Effect.fnUntraced(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  const downloads = yield* Effect.forEach(yield* fs.readDirectory(incoming), (name) => inspect(incoming, name))
  return downloads.filter((download) => download !== undefined)
})

export const clearStale = Effect.fn("Resumable.clearStale")(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const { age, isInUse, name } of yield* listDownloads(incoming)) {
    if (isInUse || age < maxAge) continue
    yield* fs.remove(path.join(incoming, name), { recursive: true, force: true })
    yield* Effect.logInfo("removed a download that broke off over a week ago").pipe(Effect.annotateLogs({ part: name }))
  }
})

/** Returns a strong validator by the rules of HTTP: a weak tag may also match other bytes. */
const selectValidator = ({ etag, last_modified }: SourceResponse) =>
  etag !== null && /^"[^"]*"$/.test(etag) ? etag : (last_modified ?? undefined)

/** Whether there is nothing to resume: the download succeeded, or is oversized and would be again. */
const isComplete = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) || Cause.squash(exit.cause) instanceof AnswerTooLarge

/** Opens a folder for this download, with what an earlier one left. Kept after a failure, removed after a success. */
export const openDownload = Effect.fnUntraced(function* (incoming: string, url: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const ownKey = hash("sha256", url, "hex").slice(0, 32)
  const name = `${ownKey}.${hostname()}.${process.pid}.${randomUUID()}.resumable`
  const folder = path.join(incoming, name)
  const body = path.join(folder, "body")
  const aboutFile = path.join(folder, "about.json")

  /** Undefined if the bytes are not known for certain to be of one payload. */
  const resumePoint = Effect.gen(function* () {
    const about = yield* Effect.flatMap(fs.readFileString(aboutFile), decodeAbout)
    const bytes = Number((yield* fs.stat(body)).size)
    // the body may be complete, and an empty range cannot be requested
    const from = about.total === null ? bytes : Math.min(bytes, about.total - 1)
    return about.url === url && from > 0 ? { from, validator: about.validator } : undefined
  }).pipe(Effect.orElseSucceed((): Resume | undefined => undefined))

  const takeOver = Effect.gen(function* () {
    const earlier = (yield* listDownloads(incoming)).filter(({ isInUse, key }) => !isInUse && key === ownKey)
    let isTaken = false
    for (const download of earlier.sort((a, b) => b.bytes - a.bytes)) {
      const source = path.join(incoming, download.name)
      if (isTaken) yield* fs.remove(source, { recursive: true, force: true })
      else isTaken = yield* Effect.isSuccess(fs.rename(source, folder)) // fails if another run was faster
    }
    if (!isTaken) yield* fs.makeDirectory(folder)
  })

  const close = Effect.fnUntraced(
    function* (isDone: boolean) {
      const resume = isDone ? undefined : yield* resumePoint
      if (resume === undefined) yield* fs.remove(folder, { recursive: true, force: true })
      else yield* Effect.logInfo("the next run resumes this download", { url, bytes: resume.from })
    },
    Effect.catch((error) => Effect.logWarning(`${folder} could not be removed: ${error.message}`))
  )
  yield* Effect.acquireRelease(
    Effect.andThen(
      Effect.sync(() => ours.add(name)),
      takeOver
    ),
    (_, exit) =>
      Effect.ensuring(
        close(isComplete(exit)),
        Effect.sync(() => ours.delete(name))
      )
  )

  /** Appends the response to the existing bytes, and flushes. Returns hash and length of the whole payload. */
  const receive = Effect.fnUntraced(function* (
    response: SourceResponse,
    onBytes: (bytes: number) => Effect.Effect<void>
  ) {
    const { from, total } = response
    const validator = selectValidator(response)
    if (from === 0) {
      yield* fs.remove(aboutFile, { force: true }) // before anything else: it describes other bytes
      yield* fs.writeFileString(body, "")
      const about = { url, validator: validator ?? "", total }
      if (validator !== undefined) yield* fs.writeFileString(aboutFile, JSON.stringify(about))
    }
    yield* fs.truncate(body, from)
    const digest = makeDigest()
    yield* Stream.runForEach(fs.stream(body), (piece) => Effect.sync(() => digest.add(piece)))
    const write = Effect.gen(function* () {
      const opened = yield* fs.open(body, { flag: "a" })
      yield* Stream.runForEach(response.body, (piece) => {
        digest.add(piece)
        return Effect.andThen(opened.writeAll(piece), onBytes(piece.length))
      })
      yield* opened.sync
    })
    yield* Effect.scoped(write)
    const received = digest.end()
    if (total !== null && received.bytes > total) yield* fs.remove(aboutFile, { force: true }) // not one payload
    return { part: body, ...(yield* requireComplete(url, total, received)) }
  })

  return { resumePoint, receive }
})
