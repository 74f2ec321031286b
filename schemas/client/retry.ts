/**
 * The wait before a call that failed with 5xx is retried: exponential back-off with jitter, added to what the server
 * requests with `Retry-After`. Other errors are not retried, because they would only repeat. A 5xx of the API costs
 * nothing. A 5xx from a proxy may have been charged, but is still retried.
 */

/** Default number of retries after the first attempt. They wait at most 7.5 seconds, plus what the server requests. */
export const defaultRetries = 4

const firstWait = 500
/**
 * Maximum of the back-off, in milliseconds. If the server requests a longer wait, the caller gets the error instead of
 * waiting without feedback.
 */
export const maxWait = 30_000

/** Milliseconds that `Retry-After` requests, as a number of seconds or as a date; undefined without one. */
export const parseRetryDelay = (header: string | null, now: number): number | undefined => {
  if (header === null) return undefined
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

/**
 * Milliseconds to wait after a number of attempts; undefined if the server requests more than `maxWait`. Half of the
 * back-off is random, so that callers that failed together do not retry together. The back-off is added to what the
 * server requests, because the server requests the same of all of them.
 */
export const computeWait = (
  attempts: number,
  retryAfter: number | undefined,
  random: () => number
): number | undefined => {
  if (retryAfter !== undefined && retryAfter > maxWait) return undefined
  const backOff = Math.min(firstWait * 2 ** (attempts - 1), maxWait)
  return (retryAfter ?? 0) + backOff * (0.5 + random() / 2)
}

/** Waits, or rejects with the signal's reason as soon as the signal aborts. */
export const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, milliseconds)
    if (signal?.aborted) stop()
    else signal?.addEventListener("abort", stop, { once: true })
  })
