/**
 * How long to wait before a call that was answered with 5xx is made again: exponential back-off with jitter, on top of
 * what the server asks for by `Retry-After`. Nothing else is retried, because every other error would only repeat. A 5xx of the
 * API cost nothing; one that a proxy answered in its place may have been charged, and is retried all the same.
 */

/** Retries after the first attempt, unless told otherwise: at most 7.5 seconds, beside what the server asks for. */
export const defaultRetries = 4

const firstWait = 500
/**
 * Milliseconds, beyond which the back-off does not grow. Nobody waits longer in the dark: whoever is told to come back later
 * than this gets the error instead.
 */
export const longestWait = 30_000

/** Milliseconds that `Retry-After` asks for, a number of seconds or a date; undefined without one. */
export const retryAfterOf = (header: string | null, now: number): number | undefined => {
  if (header === null) return undefined
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

/**
 * Milliseconds to wait after this many attempts; undefined where it is not worth waiting. Half of the back-off is chance, so
 * that callers who failed together do not come back together; it is added to what the server asks for, because the server
 * asks them all for the same.
 */
export const waitAfter = (
  attempts: number,
  retryAfter: number | undefined,
  chance: () => number
): number | undefined => {
  if (retryAfter !== undefined && retryAfter > longestWait) return undefined
  const grown = Math.min(firstWait * 2 ** (attempts - 1), longestWait)
  return (retryAfter ?? 0) + grown * (0.5 + chance() / 2)
}

/** Waits, or rejects with the signal's reason as soon as it fires. */
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
