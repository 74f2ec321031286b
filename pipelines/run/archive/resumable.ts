/**
 * Downloads that outlive a run: a folder beside the other incoming files, with the received part of the body and its
 * validator. The key in its name is derived from the address. A run that resumes a download renames the folder first,
 * which only one run can do.
 */

import { hash } from "node:crypto"
import path from "node:path"
import { makeDigest } from "@larder/warehouse"
import { Cause, Effect, Exit, FileSystem, Schema, Stream } from "effect"
import { AnswerTooLarge, type Resume, type SourceResponse } from "../origins/origin.ts"
import { requireComplete } from "../origins/transport.ts"
import { listUnused, newWorkName, reserveFolder } from "./incoming.ts"

const About = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, validator: Schema.String, total: Schema.NullOr(Schema.Int) })
)
const decodeAbout = Schema.decodeUnknownEffect(About)

/** Returns a strong validator by the rules of HTTP: a weak tag may also match other bytes. */
const selectValidator = ({ etag, last_modified }: SourceResponse) =>
  etag !== null && /^"[^"]*"$/.test(etag) ? etag : (last_modified ?? undefined)

/** Whether there is nothing to resume: the download succeeded, or is oversized and would be again. */
const isComplete = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isSuccess(exit) || Cause.squash(exit.cause) instanceof AnswerTooLarge

/** Opens a folder for this download, with the part that an earlier one received. It is kept if a later run can resume. */
export const openDownload = Effect.fnUntraced(function* (incoming: string, url: string) {
  const fs = yield* FileSystem.FileSystem
  const ownKey = hash("sha256", url, "hex").slice(0, 32)
  const folder = yield* reserveFolder(incoming, `${ownKey}.${newWorkName("resumable")}`)
  const body = path.join(folder, "body")
  const aboutFile = path.join(folder, "about.json")

  /** Undefined unless all bytes certainly belong to one payload. */
  const resumePoint = Effect.gen(function* () {
    const about = yield* Effect.flatMap(fs.readFileString(aboutFile), decodeAbout)
    const bytes = Number((yield* fs.stat(body)).size)
    // the body may be complete, and an empty range cannot be requested
    const from = about.total === null ? bytes : Math.min(bytes, about.total - 1)
    return about.url === url && from > 0 ? { from, validator: about.validator } : undefined
  }).pipe(Effect.orElseSucceed((): Resume | undefined => undefined))

  const claimEarlier = Effect.gen(function* () {
    const earlier = (yield* listUnused(incoming)).filter(({ key, kind }) => kind === "resumable" && key === ownKey)
    let isClaimed = false
    for (const download of earlier.sort((a, b) => b.bytes - a.bytes)) {
      const source = path.join(incoming, download.name)
      if (isClaimed) yield* fs.remove(source, { recursive: true, force: true })
      else isClaimed = yield* Effect.isSuccess(fs.rename(source, folder)) // fails if another run has renamed it
    }
    if (!isClaimed) yield* fs.makeDirectory(folder)
  })

  const close = Effect.fnUntraced(
    function* (isDone: boolean) {
      const resume = isDone ? undefined : yield* resumePoint
      if (resume === undefined) yield* fs.remove(folder, { recursive: true, force: true })
      else yield* Effect.logInfo("the next run resumes this download", { url, bytes: resume.from })
    },
    Effect.catch((error) => Effect.logWarning(`${folder} could not be removed: ${error.message}`))
  )
  yield* Effect.acquireRelease(claimEarlier, (_, exit) => close(isComplete(exit)))

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
