/**
 * Sends the requests of one store: within its time budget, where its robots.txt allows it, and with a size limit for
 * each payload. Any reason why an address cannot be read becomes `Unread`; only a fault of this machine fails the run.
 */
import { Clock, Duration, Effect, FileSystem } from "effect"
import { Archive } from "../../../run/archive/archive.ts"
import { type ArchiveUnwritable, type RawFile, RawFileDamaged } from "../../../run/archive/fetch-list.ts"
import { GivenUp, type Origin, type OriginError, type SourceRequest } from "../../../run/origins/origin.ts"
import { pageText } from "../../decode/payload-text.ts"
import { isUnread, type Unread, unread, unreadOf, unreadOfAnswer, unreadOfPage } from "./outcome.ts"
import { PagesInMemory, type StorePolicy } from "./policy.ts"
import { makeRobots } from "./robots.ts"

export type Fatal = ArchiveUnwritable | RawFileDamaged
export type Needs = Archive | Origin | FileSystem.FileSystem

const orUnread = (error: OriginError | Fatal | Unread): Fatal | Unread =>
  error._tag === "Unread" || error._tag === "ArchiveUnwritable" || error._tag === "RawFileDamaged"
    ? error
    : unreadOf(error)

export const textOf = Effect.fnUntraced(function* ({ content_type, file, path }: RawFile) {
  const fs = yield* FileSystem.FileSystem
  const damaged = (error: Error) => new RawFileDamaged({ file, problem: `cannot be read (${error.message})` })
  const bytes = yield* Effect.mapError(fs.readFile(path), damaged)
  return pageText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), content_type)
})

const megabyte = 1 << 20

/** Memory for one page of a store at a time: held until the store requests its next page, or its scope ends. */
const makeRoom = Effect.gen(function* () {
  const { most, pages } = yield* PagesInMemory
  let held = 0
  const leave = Effect.suspend(() => {
    const permits = held
    held = 0
    return pages.release(permits)
  })
  yield* Effect.addFinalizer(() => leave)
  const enter = ({ bytes }: RawFile) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.map(restore(pages.take(Math.min(Math.ceil(bytes / megabyte), most))), (permits) => {
        held = permits
      })
    )
  return { enter, leave }
})

/** `lane` is that of the store's platform. One page at a time is held in memory, the last one until the scope ends. */
export const makeAsking = Effect.fnUntraced(function* (policy: StorePolicy, lane?: string) {
  const startedAt = yield* Clock.currentTimeMillis
  const common = { bodyTimeout: policy.page, ...(lane === undefined ? {} : { lane }) }

  const fetch = Effect.fnUntraced(function* (ask: SourceRequest) {
    const archive = yield* Archive
    const left = startedAt + Duration.toMillis(policy.budget) - (yield* Clock.currentTimeMillis)
    const problem = `${Duration.format(Duration.fromInputUnsafe(policy.budget))} were not enough`
    const over = new GivenUp({ url: ask.url, reason: "budget", problem })
    return yield* archive.fetch({ ...ask, patience: { left, over } })
  })

  const unknownRules = (error: OriginError) => {
    const { detail, outcome } = unreadOf(error)
    const why = `nothing is asked where robots.txt cannot be read: ${detail}`
    return Effect.fail(unread(outcome === "too_large" ? "forbidden" : outcome, why))
  }
  const allAllowed = () => Effect.succeed(undefined)
  const robots = makeRobots(
    (url: string) =>
      Effect.flatMap(
        fetch({ ...common, url, accept: "text/plain, */*;q=0.1", maxBytes: policy.longestRobots }),
        textOf
      ).pipe(
        Effect.catchTags({
          AccessDenied: allAllowed,
          RefusedByUpstream: allAllowed,
          NotRecorded: allAllowed,
          UpstreamUnavailable: unknownRules,
          AnswerTooLarge: unknownRules,
          GivenUp: (error) => Effect.fail(unreadOf(error)),
          ForbiddenAddress: unknownRules,
          RecordingUnreadable: unknownRules
        })
      ),
    policy.longestDelay
  )

  /** The target of a redirect has rules too, even on the same host. A robots.txt itself may be redirected anywhere. */
  const judge = Effect.fnUntraced(function* (to: URL) {
    if (/\/password\/?$/.test(to.pathname)) return yield* unreadOfPage("", to.origin + to.pathname)
    return yield* robots.allow(to.href, to.pathname) // the query may be signed, so it is not shown
  })

  /** Fetches one payload. */
  const get = Effect.fnUntraced(function* (ask: SourceRequest) {
    const context = yield* Effect.context<Needs>()
    const wish = yield* robots.allow(ask.url)
    const mayFollow = (to: URL) =>
      judge(to).pipe(
        Effect.catchIf(isUnread, ({ detail: problem, outcome: reason }) =>
          Effect.fail(new GivenUp({ url: ask.url, reason, problem }))
        ),
        Effect.catchIf((error): error is Fatal => !(error instanceof GivenUp), Effect.die),
        Effect.provideContext(context)
      )
    return yield* Effect.mapError(fetch({ ...common, ...wish, mayFollow, ...ask }), orUnread)
  })

  const room = yield* makeRoom

  /** Fetches a page of a list. If something else arrives, such as a bot check, the page is requested once more. */
  const page = <A>(url: string, wants: ReadonlyArray<string>, read: (text: string) => A) => {
    const attempt = Effect.gen(function* () {
      yield* room.leave // the previous page has been staged
      const raw = yield* get({ url, accept: "application/json", maxBytes: policy.longestPage, wants })
      yield* room.enter(raw)
      const text = yield* textOf(raw)
      try {
        return { raw, found: read(text) }
      } catch (cause) {
        return yield* unreadOfAnswer(cause, text, raw.final_url) ?? Effect.die(cause)
      }
    })
    return Effect.catchIf(
      attempt,
      (error) => error._tag === "Unread" && error.may_pass,
      () => attempt
    )
  }
  return { get, page }
})
export type Asking = Effect.Success<ReturnType<typeof makeAsking>>
