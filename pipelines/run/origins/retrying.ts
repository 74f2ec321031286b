/** Retries: how often, how long between them, and what a source says in `Retry-After`. */
import { type Duration, Effect } from "effect"
import { UpstreamUnavailable } from "./origin.ts"
import { backOff } from "./pacing.ts"

export interface RetryPolicy {
  /** Number of tries, including the first. */
  readonly tries: number
  readonly firstBackOff: Duration.Input
  readonly longestBackOff: Duration.Input
}

const isUnavailable = (error: unknown) => error instanceof UpstreamUnavailable

/** The final failure says how many tries there were. */
export const makeRetrying = (policy: RetryPolicy) => {
  const retrying = <A, E, R>(attempt: Effect.Effect<A, E | UpstreamUnavailable, R>, tries = 1): typeof attempt =>
    Effect.catchIf(attempt, isUnavailable, (failure) =>
      Effect.gen(function* () {
        const { url, problem, pause_ms, cause } = failure
        // a spread does not copy the cause of an error
        if (!failure.may_pass || tries >= policy.tries) {
          return yield* new UpstreamUnavailable({ ...failure, ...(cause === undefined ? {} : { cause }), tries })
        }
        const wait = pause_ms ?? (yield* backOff(tries, policy.firstBackOff, policy.longestBackOff))
        yield* Effect.logWarning(`retrying: ${problem}`, { url, tries, of: policy.tries, wait_ms: wait })
        if (pause_ms === null) yield* Effect.sleep(wait) // the next `open` waits for the pause of the host
        return yield* retrying(attempt, tries + 1)
      })
    )
  return retrying
}

/** Longer waits make no difference, and a date past the end of the calendar cannot be shown. */
const oneYear = 365 * 86_400_000

/** Milliseconds to wait by a `Retry-After` header, in seconds or as an HTTP date; undefined if it is neither. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Math.min(oneYear, Number(text) * 1000)
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN // Date.parse alone reads "-5" as a year
  return Number.isNaN(at) ? undefined : Math.min(oneYear, Math.max(0, at - now))
}
