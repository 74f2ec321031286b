/**
 * Sends the requests of one store: within its time budget, if its robots.txt allows it, and with a size limit for each
 * payload. Any reason why an address cannot be read becomes `Unread`; only a fault of this machine fails the run.
 */
import { Clock, Duration, Effect, FileSystem } from "effect"
import { Archive } from "../../../run/archive/archive.ts"
import { type ArchiveUnwritable, type FetchedPayload, RawFileDamaged } from "../../../run/archive/fetch-list.ts"
import { GivenUp, type Origin, type OriginError, type SourceRequest } from "../../../run/origins/origin.ts"
import { decodePage } from "../../decode/payload-text.ts"
import { isUnread, makeUnread, type Unread, unreadFromError, unreadFromPage, unreadFromResponse } from "./outcome.ts"
import { PageMemory, type StorePolicy } from "./policy.ts"
import { makeRobots } from "./robots.ts"

export type LocalFault = ArchiveUnwritable | RawFileDamaged
export type RequestNeeds = Archive | Origin | FileSystem.FileSystem

const toUnread = (error: OriginError | LocalFault | Unread): LocalFault | Unread =>
  error._tag === "Unread" || error._tag === "ArchiveUnwritable" || error._tag === "RawFileDamaged"
    ? error
    : unreadFromError(error)

const readPageText = Effect.fnUntraced(function* (
  { content_type, final_url, path: file }: FetchedPayload,
  encoding: string | undefined
) {
  const fs = yield* FileSystem.FileSystem
  const makeDamaged = (error: Error) => new RawFileDamaged({ file, problem: `cannot be read (${error.message})` })
  const bytes = yield* Effect.mapError(fs.readFile(file), makeDamaged)
  try {
    return decodePage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), {
      content_type,
      encoding: encoding ?? null
    })
  } catch (cause) {
    return yield* unreadFromResponse(cause, "", final_url) ?? Effect.die(cause)
  }
})

const megabyte = 1 << 20

/** Reserves memory for one page of a store, until the store requests its next page or its scope ends. */
const makePageMemory = Effect.gen(function* () {
  const { maxMegabytes, pages } = yield* PageMemory
  let reserved = 0
  const release = Effect.suspend(() => {
    const permits = reserved
    reserved = 0
    return pages.release(permits)
  })
  yield* Effect.addFinalizer(() => release)
  const reserve = ({ bytes }: FetchedPayload) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.map(restore(pages.take(Math.min(Math.ceil(bytes / megabyte), maxMegabytes))), (permits) => {
        reserved = permits
      })
    )
  return { reserve, release }
})

interface StoreRequestOptions {
  /** Shared by all stores of a platform. */
  readonly pool?: string
  /** Of the pages, from the store list. */
  readonly encoding?: string | undefined
}

/** One page at a time is in memory, the last one until the scope ends. */
export const makeStoreRequests = Effect.fnUntraced(function* (
  policy: StorePolicy,
  { encoding, pool }: StoreRequestOptions = {}
) {
  const startedAt = yield* Clock.currentTimeMillis
  const common: Pick<SourceRequest, "pool"> = pool === undefined ? {} : { pool }

  const fetch = Effect.fnUntraced(function* (request: SourceRequest) {
    const archive = yield* Archive
    const remaining = startedAt + Duration.toMillis(policy.budget) - (yield* Clock.currentTimeMillis)
    const problem = `${Duration.format(Duration.fromInputUnsafe(policy.budget))} were not enough`
    const error = new GivenUp({ url: request.url, reason: "budget", problem })
    return yield* archive.fetch({ ...request, timeLimit: { remaining, error } })
  })

  const failWithoutRules = (error: OriginError) => {
    const { detail, outcome } = unreadFromError(error)
    const problem = `nothing is requested if robots.txt cannot be read: ${detail}`
    return Effect.fail(makeUnread(outcome === "too_large" ? "forbidden" : outcome, problem))
  }
  const robots = makeRobots(
    (url: string) =>
      Effect.flatMap(
        fetch({ ...common, url, accept: "text/plain, */*;q=0.1", maxBytes: policy.maxRobotsBytes }),
        (raw) => Effect.catchIf(readPageText(raw, undefined), isUnread, () => Effect.succeed(undefined))
      ).pipe(
        Effect.catchTag(["AccessDenied", "RefusedByUpstream", "NotRecorded"], () => Effect.succeed(undefined)),
        Effect.catchTag(["GivenUp", "NotRequested"], (error) => Effect.fail(unreadFromError(error))),
        Effect.catchTag(
          ["UpstreamUnavailable", "AnswerTooLarge", "ForbiddenAddress", "RecordingUnreadable"],
          failWithoutRules
        )
      ),
    policy.maxDelay
  )

  /** A redirect's target has rules too, even on the same host. A robots.txt itself may be redirected anywhere. */
  const checkRedirect = Effect.fnUntraced(function* (to: URL) {
    if (/\/password\/?$/.test(to.pathname)) return yield* unreadFromPage("", to.origin + to.pathname)
    return yield* robots.requireAllowed(to.href, to.pathname) // the query may be signed, so it is not shown
  })

  const get = Effect.fnUntraced(function* (request: SourceRequest) {
    const context = yield* Effect.context<RequestNeeds>()
    const crawlDelay = yield* robots.requireAllowed(request.url)
    const mayFollow = (to: URL) =>
      checkRedirect(to).pipe(
        Effect.catchIf(isUnread, ({ detail: problem, outcome: reason }) =>
          Effect.fail(new GivenUp({ url: request.url, reason, problem }))
        ),
        Effect.catchIf((error): error is LocalFault => !(error instanceof GivenUp), Effect.die),
        Effect.provideContext(context)
      )
    return yield* Effect.mapError(fetch({ ...common, ...crawlDelay, mayFollow, ...request }), toUnread)
  })

  const memory = yield* makePageMemory

  /** Fetches a page of a list. If the response is something else, such as a bot check, requests it once more. */
  const getPage = <A>(url: string, extraValues: ReadonlyArray<string>, read: (text: string) => A) => {
    const attempt = Effect.gen(function* () {
      yield* memory.release // the previous page has been staged
      const raw = yield* get({ url, accept: "application/json", maxBytes: policy.maxPageBytes, extraValues })
      yield* memory.reserve(raw)
      const text = yield* readPageText(raw, encoding)
      try {
        return { raw, content: read(text) }
      } catch (cause) {
        return yield* unreadFromResponse(cause, text, raw.final_url) ?? Effect.die(cause)
      }
    })
    return Effect.catchIf(
      attempt,
      (error) => error._tag === "Unread" && error.may_pass,
      () => attempt
    )
  }
  return { get, getPage }
})
export type StoreRequests = Effect.Success<ReturnType<typeof makeStoreRequests>>
