/**
 * Downloads that outlive a run: `<key>.<machine>.<process>.<random>.resumable`, a folder beside the other incoming
 * files, with the received part of the body and its validator. The name of the folder identifies its writer. A run that
 * resumes a download renames the folder first, which only one run can do. The key is derived from the address.
 */
import { hash, randomUUID } from "node:crypto"
import { hostname } from "node:os"
import { makeDigest } from "@larder/warehouse"
import { Cause, Clock, Effect, Exit, FileSystem, Option, Path, Schema, Stream } from "effect"
import { AnswerTooLarge, type Resume, type SourceResponse } from "../origins/origin.ts"
import { requireWhole } from "../origins/transport.ts"
import { abandonedAfter, isAlive } from "./incoming.ts"

/** A release is superseded after months; a download that no run resumed within a week is given up. */
const keptFor = 7 * 86_400_000

const folderName = /^([0-9a-f]{32})\.(.+)\.(\d+)\.[0-9a-f-]{36}\.resumable$/

/** Folders that this process writes to. A process of an earlier container may have had the same process id. */
const ours = new Set<string>()

/** What identifies a payload, and its length. */
const About = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, validator: Schema.String, total: Schema.NullOr(Schema.Int) })
)
const decodeAbout = Schema.decodeUnknownEffect(About)

interface Found {
  readonly name: string
  readonly key: string
  readonly bytes: number
  readonly age: number
  readonly isHeld: boolean
}

const look = Effect.fnUntraced(function* (incoming: string, name: string) {
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
  const isHeld = ours.has(name) || (!isDead && age < abandonedAfter)
  return { name, key, bytes: type === "File" ? Number(size) : 0, age, isHeld } satisfies Found
})

const found = Effect.fnUntraced(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  const all = yield* Effect.forEach(yield* fs.readDirectory(incoming), (name) => look(incoming, name))
  return all.filter((one) => one !== undefined)
})

/** Removes downloads that no run has resumed for a week. */
export const clearStale = Effect.fn("Resumable.clearStale")(function* (incoming: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const { age, isHeld, name } of yield* found(incoming)) {
    if (isHeld || age < keptFor) continue
    yield* fs.remove(path.join(incoming, name), { recursive: true, force: true })
    yield* Effect.logInfo("removed a download that broke off over a week ago").pipe(Effect.annotateLogs({ part: name }))
  }
})

const keyOf = (url: string) => hash("sha256", url, "hex").slice(0, 32)

/** A strong validator by the rules of HTTP: a weak tag may also match other bytes. */
const validatorOf = ({ etag, last_modified }: SourceResponse) =>
  etag !== null && /^"[^"]*"$/.test(etag) ? etag : (last_modified ?? undefined)

/** Whether there is nothing to resume: the download succeeded, or is oversized and would be so again. */
const isOver = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) || Cause.squash(exit.cause) instanceof AnswerTooLarge

/** A place for this download, with what an earlier one left. Kept after a failure, and removed after a success. */
export const placeFor = Effect.fnUntraced(function* (incoming: string, url: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = `${keyOf(url)}.${hostname()}.${process.pid}.${randomUUID()}.resumable`
  const folder = path.join(incoming, name)
  const body = path.join(folder, "body")
  const aboutFile = path.join(folder, "about.json")

  /** Where to resume: undefined if the bytes are not known for certain to be of one payload. */
  const kept = Effect.gen(function* () {
    const about = yield* Effect.flatMap(fs.readFileString(aboutFile), decodeAbout)
    const bytes = Number((yield* fs.stat(body)).size)
    // the body may be complete, and an empty range cannot be requested
    const from = about.total === null ? bytes : Math.min(bytes, about.total - 1)
    return about.url === url && from > 0 ? { from, validator: about.validator } : undefined
  }).pipe(Effect.orElseSucceed((): Resume | undefined => undefined))

  const takeOver = Effect.gen(function* () {
    const mine = (yield* found(incoming)).filter(({ isHeld, key }) => !isHeld && key === keyOf(url))
    let isTaken = false
    for (const earlier of mine.sort((a, b) => b.bytes - a.bytes)) {
      const there = path.join(incoming, earlier.name)
      if (isTaken) yield* fs.remove(there, { recursive: true, force: true })
      else isTaken = yield* Effect.isSuccess(fs.rename(there, folder)) // fails if another run was faster
    }
    if (!isTaken) yield* fs.makeDirectory(folder)
  })

  const leave = Effect.fnUntraced(
    function* (isDone: boolean) {
      const there = isDone ? undefined : yield* kept
      if (there === undefined) yield* fs.remove(folder, { recursive: true, force: true })
      else yield* Effect.logInfo("the next run resumes this download", { url, bytes: there.from })
    },
    Effect.catch((error) => Effect.logWarning(`${folder} is left: ${error.message}`))
  )
  yield* Effect.acquireRelease(
    Effect.andThen(
      Effect.sync(() => ours.add(name)),
      takeOver
    ),
    (_, exit) =>
      Effect.ensuring(
        leave(isOver(exit)),
        Effect.sync(() => ours.delete(name))
      )
  )

  /** Appends the response to the existing bytes, and flushes. Hash and length are those of the whole payload. */
  const receive = Effect.fnUntraced(function* (
    answer: SourceResponse,
    onBytes: (bytes: number) => Effect.Effect<void>
  ) {
    const validator = validatorOf(answer)
    if (answer.from === 0) {
      yield* fs.remove(aboutFile, { force: true }) // before anything else: it describes other bytes
      yield* fs.writeFileString(body, "")
      const about = { url, validator: validator ?? "", total: answer.total }
      if (validator !== undefined) yield* fs.writeFileString(aboutFile, JSON.stringify(about))
    }
    yield* fs.truncate(body, answer.from)
    const digest = makeDigest()
    yield* Stream.runForEach(fs.stream(body), (piece) => Effect.sync(() => digest.add(piece)))
    const write = Effect.gen(function* () {
      const opened = yield* fs.open(body, { flag: "a" })
      yield* Stream.runForEach(answer.body, (piece) => {
        digest.add(piece)
        return Effect.andThen(opened.writeAll(piece), onBytes(piece.length))
      })
      yield* opened.sync
    })
    yield* Effect.scoped(write)
    const received = digest.end()
    if (answer.total !== null && received.bytes > answer.total) yield* fs.remove(aboutFile, { force: true }) // not the bytes of one payload
    return { part: body, ...(yield* requireWhole(url, answer.total, received)) }
  })

  return { kept, receive }
})
