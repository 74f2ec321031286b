/**
 * The outcomes of reading a store. The rows of an accepted read are published. Only `complete` and `rejected` saw all that
 * the store lists, so only they withdraw the collections that were not found; products are withdrawn after any accepted
 * read that has their whole list.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { type OriginError, runTimeOver, type UpstreamUnavailable } from "../../../run/origins/origin.ts"
import { FeedUnreadable } from "../../decode/feed-errors.ts"
import { UnexpectedResponse } from "../../decode/responses.ts"

interface Meaning {
  readonly fetch_status: "complete" | "partial" | "failed"
  /** Whether the rows of the read are published. If not, the known rows stay. */
  readonly is_accepted: boolean
  readonly sentence: string
  /** How a run reports the store if it leaves out all or part of it; null if it leaves out nothing. */
  readonly kind: FeedLeftOut["kind"] | null
}

const partial = (sentence: string) =>
  ({ fetch_status: "partial", is_accepted: true, sentence, kind: "partial" }) as const
/** The store responded with its feed, but the comparison with its last read speaks against it. */
const unaccepted = (sentence: string) => ({ ...partial(sentence), is_accepted: false }) as const
/** The store did not respond, or refused the request. */
const unreachable = (sentence: string) =>
  ({ fetch_status: "failed", is_accepted: false, sentence, kind: "unreachable" }) as const
/** The store responded with something other than its feed. */
const untrusted = (sentence: string) =>
  ({ fetch_status: "failed", is_accepted: false, sentence, kind: "untrusted" }) as const

export const outcomes = {
  complete: {
    fetch_status: "complete",
    is_accepted: true,
    sentence: "Everything that the store lists was read.",
    kind: null
  },
  rejected: partial("Everything that the store lists was read, but rejected products keep their known data."),
  window: partial("The store lists more than can be paged through."),
  budget: partial("A time limit ended the read."),
  broken_off: partial("The read stopped before its end."),
  moved: partial("Products moved between pages during the read, so some may be missing."),
  unclear: partial("Some of the listed products or collections could not be read, and it is unknown which."),
  unpriced: unaccepted(
    "Far more prices are missing than in its last read. This read is not accepted, and the store keeps its known data."
  ),
  exchanged: unaccepted(
    "None of the products that it listed before are there: it may be the feed of another store. This read is not accepted, but the next one is if it finds the same."
  ),
  outdated: unaccepted(
    "The last read of the store has a time that is still in the future by the clock of this machine. This read is not accepted."
  ),
  shrunk: partial("The store lists far less than before. The rest is withdrawn if the next read finds the same."),
  empty: untrusted("The store lists nothing, and does not confirm that it has no products."),
  headless: untrusted("The store reports products but lists none: it sells them elsewhere, or hides the list."),
  locked: unreachable("The store is locked: it asks for a password or is suspended."),
  blocked: unreachable("The store blocks our requests with a firewall or a bot check."),
  not_found: unreachable("There is no such feed at this address."),
  html: untrusted("The store responds with a web page instead of its feed: it may be another kind of store."),
  throttled: unreachable("The store requires longer pauses than a run can wait."),
  unreachable: unreachable("The store does not respond, or its response is incomplete."),
  forbidden: unreachable("The robots.txt of the store forbids this request."),
  private_address: unreachable("The address is in a private network, or is not one that is read."),
  unreadable: untrusted("The feed cannot be read."),
  too_large: untrusted("The feed is larger than the limit."),
  // not recorded, because it says nothing about the store
  out_of_time: unreachable("The time of the run ended before the store was read.")
} as const satisfies Record<string, Meaning>
export type StoreOutcome = keyof typeof outcomes

export const isAccepted = ({ outcome }: { readonly outcome: StoreOutcome }) => outcomes[outcome].is_accepted

/** Whether the time of the store or of the run ended its read. Rows that were read by then are used. */
export const isTimeLimit = (outcome: StoreOutcome) => outcome === "budget" || outcome === "out_of_time"

export const fetchStatusOf = (outcome: StoreOutcome) => outcomes[outcome].fetch_status

const Names = Schema.Literals(Object.keys(outcomes) as Array<StoreOutcome>) // keys of a literal object, which TypeScript widens
export const isOutcome = Schema.is(Names)

/** An address that could not be read. Its effect on the whole read depends on the pages before it. */
export class Unread extends Schema.TaggedError<Unread>()("Unread", {
  outcome: Names,
  /** A sentence without its full stop. */
  detail: Schema.String,
  /** Another attempt shortly afterwards may succeed. */
  may_pass: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** The store itself states that the resource does not exist (any more). */
  is_missing: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false))),
  /** Of a response that refuses the request. */
  refusal: Schema.optionalKey(Schema.Struct({ status: Schema.Int, code: Schema.optionalKey(Schema.String) })),
  /** The recording has no such address, so the store's response is not known. */
  is_unrecorded: Schema.Boolean.pipe(Schema.withConstructorDefault(Effect.succeed(false)))
}) {
  override get message() {
    return `${this.detail}.`
  }
}

export const isUnread = (value: unknown): value is Unread => value instanceof Unread

export const makeUnread = (outcome: StoreOutcome, detail: string) =>
  new Unread({ outcome, detail: detail.replace(/\.$/, "") })

const missingStatuses = [404, 410]
/** Shopify responds with 402 for suspended shops. */
const lockedStatuses = [402, 423]

const classifyStatus = (status: number): StoreOutcome => {
  if (missingStatuses.includes(status) || status === 0) return "not_found"
  if (lockedStatuses.includes(status)) return "locked"
  return status >= 400 && status < 500 ? "blocked" : "unreachable"
}

/** Whether a refusal means that the page number is beyond the window that a shop shows. */
const isWindow = (problem: string) => /limit/i.test(problem) && /page|25,?000/i.test(problem)

const isThrottled = ({ pause_ms, status }: UpstreamUnavailable) =>
  pause_ms !== null || (status !== null && [429, 430, 503].includes(status))

const unreadFromUnavailable = (error: UpstreamUnavailable) => {
  const tries = error.tries > 1 ? `, ${error.tries} times` : ""
  const advice = error.advice === undefined ? "" : `. ${error.advice}`
  return makeUnread(isThrottled(error) ? "throttled" : "unreachable", `${error.url}: ${error.problem}${tries}${advice}`)
}

const outcomeOfReason = (reason: string): StoreOutcome => {
  if (reason === runTimeOver) return "out_of_time"
  return isOutcome(reason) ? reason : "unreachable"
}

export const unreadFromError = (error: OriginError): Unread => {
  switch (error._tag) {
    case "UpstreamUnavailable":
      return unreadFromUnavailable(error)
    case "AccessDenied":
      return makeUnread("blocked", `${error.url}: ${error.problem}`)
    case "RefusedByUpstream": {
      const { code, problem, status, url } = error
      const refusal = code === undefined ? { status } : { status, code }
      const outcome = status === 400 && isWindow(problem) ? "window" : classifyStatus(status)
      const { detail } = makeUnread(outcome, `${url}: ${problem}`)
      return new Unread({ outcome, detail, refusal, is_missing: missingStatuses.includes(status) })
    }
    case "AnswerTooLarge":
      return makeUnread("too_large", `${error.url}: more than ${error.longest.toLocaleString("en-US")} bytes`)
    case "NotRequested":
      return makeUnread("out_of_time", error.problem)
    case "GivenUp":
      return makeUnread(outcomeOfReason(error.reason), error.problem)
    case "ForbiddenAddress":
      return makeUnread("private_address", `${error.url}: ${error.problem}`)
    case "NotRecorded":
      return new Unread({
        outcome: "not_found",
        detail: `no recording has ${error.url}`,
        is_unrecorded: true
      })
    case "RecordingUnreadable":
      return makeUnread("unreadable", error.message)
  }
}

const challenges =
  /just a moment|verifying (your connection|you are human)|attention required|checking your browser|captcha|access denied/i
const passwordForms = /<form[^>]{0,500}action="[^"]{0,200}\/password"/i

/** The outcome for an HTML page with status 200 in place of a feed. */
export const unreadFromPage = (text: string, final_url: string): Unread => {
  const start = text.slice(0, 100_000)
  const title = /<title[^>]{0,200}>([^<]{1,200})/i.exec(start)?.[1]?.trim() ?? ""
  const shown = `${final_url} is a page${title === "" ? "" : ` titled "${title}"`}`
  const isLocked = /\/password\/?$/.test(URL.parse(final_url)?.pathname ?? "") || passwordForms.test(start)
  if (isLocked) return makeUnread("locked", `${shown}, which asks for a password`)
  if (challenges.test(title)) return new Unread({ outcome: "blocked", detail: `${shown}, a bot check`, may_pass: true })
  return new Unread({ outcome: "html", detail: `${shown}, not a feed`, may_pass: true })
}

/** The outcome for an unusable response with status 200. Undefined if `cause` is not about the response. */
export const unreadFromResponse = (cause: unknown, text: string, final_url: string): Unread | undefined => {
  if (!(cause instanceof FeedUnreadable)) return undefined
  const kind = cause instanceof UnexpectedResponse ? cause.kind : undefined
  if (kind === "html") return unreadFromPage(text, final_url)
  return makeUnread(kind === "window" ? "window" : "unreadable", `${final_url}: ${cause.problem}`)
}
