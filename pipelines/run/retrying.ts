/** Asking again: how often, how long between, and what a source says about it in `Retry-After`. */
import { type Duration, Effect } from "effect"
import { UpstreamUnavailable } from "./origin.ts"
import { backOff } from "./pacing.ts"

export interface RetryPolicy {
  /** All tries together, the first included. */
  readonly tries: number
  readonly firstBackOff: Duration.Input
  readonly longestBackOff: Duration.Input
}

const isUnavailable = (error: unknown) => error instanceof UpstreamUnavailable

/** The failure that comes out says how many tries it took. */
export const makeRetrying = (policy: RetryPolicy) => {
  const retrying = <A, E, R>(attempt: Effect.Effect<A, E | UpstreamUnavailable, R>, tries = 1): typeof attempt =>
    Effect.catchIf(attempt, isUnavailable, (failure) =>
      Effect.gen(function* () {
        const { url, problem, pause_ms, cause } = failure
        // the cause of an error does not come along in a spread
        if (!failure.may_pass || tries >= policy.tries) {
          return yield* new UpstreamUnavailable({ ...failure, ...(cause === undefined ? {} : { cause }), tries })
        }
        const wait = pause_ms ?? (yield* backOff(tries, policy.firstBackOff, policy.longestBackOff))
        yield* Effect.logWarning(`asking again: ${problem}`, { url, tries, of: policy.tries, wait_ms: wait })
        if (pause_ms === null) yield* Effect.sleep(wait) // a pause of the host is waited for with everybody else
        return yield* retrying(attempt, tries + 1)
      })
    )
  return retrying
}

/** Longer waits are all the same, and past the end of the calendar there are no dates to tell. */
const oneYear = 365 * 86_400_000

/** Milliseconds to wait by a `Retry-After` header, in seconds or as an HTTP date; undefined where it says neither. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Math.min(oneYear, Number(text) * 1000)
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN // Date.parse alone takes "-5" for a year
  return Number.isNaN(at) ? undefined : Math.min(oneYear, Math.max(0, at - now))
}
