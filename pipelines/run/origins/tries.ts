/**
 * How often and for how long requests are tried, for all pipelines. No request stops another:
 *
 * - A failed request that may succeed later is tried again, after a delay that doubles. It waits at the end of its host's
 *   queue (`pacing.ts`), so all requests that are already there get their first try before it gets its second one.
 * - A host that does not respond gets only a few second tries in all, until it responds again. First tries are not
 *   limited: each request gets one. Responses with an error say nothing about other addresses of the host.
 * - The time of all tries of a request together is limited, with the pauses that responses to it require; except for
 *   downloads that can be resumed.
 */
import { Clock, Context, Duration, Effect, Result } from "effect"
import { GivenUp, NotRequested, runTimeOver, UpstreamUnavailable } from "./origin.ts"
import { backOff } from "./pacing.ts"

export interface TryPolicy {
  /** Number of tries, including the first. A host that does not respond gets as many second tries in all, minus one. */
  readonly maxAttempts: number
  readonly initialBackoff: Duration.Input
  readonly maxBackoff: Duration.Input
  /**
   * For all tries of a report or a page, each from sending it to its last byte, and for the pauses that responses to it
   * require. Waiting for the host does not count.
   */
  readonly totalTimeout: Duration.Input
}

/** The request that is being tried. */
interface CurrentRequest {
  /** Number of failed tries. */
  failures: number
  /** Time of its tries and pauses in milliseconds, without a step that has not ended. */
  usedTime: number
  /** When the current step was sent. A try has several if it is redirected. */
  sentAt: number | undefined
  /** Whether the last try had no response. */
  isUnanswered: boolean
}

/** Set by `retry` for its attempts. Absent for an `open` that is not retried. */
const CurrentRequest = Context.Reference<CurrentRequest | undefined>("larder/pipelines/CurrentRequest", {
  defaultValue: () => undefined
})

/** Whether an earlier try of the current request failed. */
export const isRepeated = Effect.gen(function* () {
  return ((yield* CurrentRequest)?.failures ?? 0) > 0
})

/** The time until the scope closes is time of the current request. */
export const countTime = Effect.gen(function* () {
  const current = yield* CurrentRequest
  if (current === undefined) return
  const sentAt = yield* Clock.currentTimeMillis
  current.sentAt = sentAt
  yield* Effect.addFinalizer(() =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      current.usedTime += now - sentAt
      current.sentAt = undefined
    })
  )
})

/** In milliseconds. */
export const readUsedTime = Effect.gen(function* () {
  const { sentAt, usedTime } = (yield* CurrentRequest) ?? { sentAt: undefined, usedTime: 0 }
  return sentAt === undefined ? usedTime : usedTime + (yield* Clock.currentTimeMillis) - sentAt
})

/**
 * Limits the second tries of hosts that do not respond: there is no connection, or no first byte in time. Requests share
 * them only if their own last try had no response: one that got an error is not affected by those that hang.
 */
export const makeHostTries = ({ maxAttempts }: TryPolicy) => {
  /** Second tries without a response since the last response. */
  const failures = new Map<string, number>()

  /** Fails if the host has used up its second tries, and this is one. */
  const requireLeft = Effect.fnUntraced(function* (url: string, host: string) {
    const current = yield* CurrentRequest
    if (current?.isUnanswered !== true || (failures.get(host) ?? 0) < maxAttempts - 1) return
    return yield* new NotRequested({ url, problem: `${host} does not respond` })
  })

  const countFailure = Effect.fnUntraced(function* (host: string) {
    const current = yield* CurrentRequest
    if (current === undefined) return
    if (current.failures > 0) failures.set(host, (failures.get(host) ?? 0) + 1)
    current.isUnanswered = true
  })

  const countResponse = Effect.fnUntraced(function* (host: string) {
    const current = yield* CurrentRequest
    failures.delete(host)
    if (current !== undefined) current.isUnanswered = false
  })
  return { requireLeft, countFailure, countResponse }
}

/** The time of a command, which begins with the first request of its pipelines. Without `maxTime`, it has no end. */
export const makeRunTime = (maxTime?: Duration.Input) => {
  let endsAt: number | undefined
  const limit = maxTime === undefined ? undefined : Duration.toMillis(maxTime)
  const problem = `the run had used its time (--max-time ${Duration.format(Duration.millis(limit ?? 0))})`

  /** In milliseconds; infinite without a limit. */
  const remaining = Effect.map(Clock.currentTimeMillis, (now) => {
    if (limit === undefined) return Number.POSITIVE_INFINITY
    endsAt ??= now + limit
    return endsAt - now
  })

  const isOver = Effect.map(Clock.currentTimeMillis, (now) => endsAt !== undefined && now >= endsAt)

  /** Waiting for a host: fails if the time of the run ends before. */
  const limitWait = Effect.fnUntraced(function* <A, E, R>(url: string, waiting: Effect.Effect<A, E, R>) {
    const duration = yield* remaining
    const error = new NotRequested({ url, problem })
    if (duration <= 0) return yield* error
    if (duration === Number.POSITIVE_INFINITY) return yield* waiting
    return yield* Effect.timeoutOrElse(waiting, { duration, orElse: () => Effect.fail(error) })
  })

  return { remaining, isOver, limitWait, problem }
}

/** Shared by all pipelines of a command. */
export const RunTime = Context.Reference<ReturnType<typeof makeRunTime>>("larder/pipelines/RunTime", {
  defaultValue: () => makeRunTime()
})

/** Whether the try ended for a reason that is not its own: then an earlier failure says more. */
const isStopped = (error: unknown) =>
  error instanceof NotRequested || (error instanceof GivenUp && error.reason === runTimeOver)

/** A spread does not copy the cause of an error. */
const withTries = (failure: UpstreamUnavailable, tries: number) =>
  new UpstreamUnavailable({ ...failure, ...(failure.cause === undefined ? {} : { cause: failure.cause }), tries })

/** Tries again while a later try may succeed. Fails with the last error that a response, or its absence, caused. */
export const makeRetrying = (policy: TryPolicy, { remaining }: Pick<typeof RunTime.Service, "remaining">) => {
  const totalTimeout = Duration.toMillis(policy.totalTimeout)

  /** Undefined if there is no further try. */
  const findWait = Effect.fnUntraced(function* (failure: UpstreamUnavailable, current: CurrentRequest) {
    if (!failure.may_pass || current.failures >= policy.maxAttempts || current.usedTime >= totalTimeout)
      return undefined
    const required = failure.wait_ms ?? failure.pause_ms
    const wait = required ?? (yield* backOff(current.failures, policy.initialBackoff, policy.maxBackoff))
    return wait < (yield* remaining) ? wait : undefined
  })

  return <A, E, R>(attempt: Effect.Effect<A, E | UpstreamUnavailable, R>): typeof attempt =>
    Effect.gen(function* () {
      const current: CurrentRequest = { failures: 0, usedTime: 0, sentAt: undefined, isUnanswered: false }
      const tryOnce = Effect.result(Effect.provideService(attempt, CurrentRequest, current))
      let failure: UpstreamUnavailable | undefined
      for (;;) {
        const result = yield* tryOnce
        if (Result.isSuccess(result)) return result.success
        const error = result.failure
        if (failure !== undefined && isStopped(error)) return yield* withTries(failure, current.failures)
        if (!(error instanceof UpstreamUnavailable)) return yield* Effect.fail(error)
        failure = error
        current.failures += 1
        const wait = yield* findWait(failure, current)
        if (wait === undefined) return yield* withTries(failure, current.failures)
        const { pause_ms, problem, url, wait_ms = 0 } = failure
        // a failed feed is one line of the log, at the end of the run
        yield* Effect.logDebug(`retrying: ${problem}`, {
          url,
          tries: current.failures,
          of: policy.maxAttempts,
          wait_ms: wait
        })
        current.usedTime += wait_ms
        if (pause_ms === null) yield* Effect.sleep(wait) // the next `open` waits for the pause of the host
      }
    })
}
