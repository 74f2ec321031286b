/**
 * Pacing of requests. A host gets one at a time, with an interval between their starts, in the order in which they arrive:
 * a request that is tried again waits behind all others. Hosts of one platform may also share a pool, which may allow
 * several at once. If a host throttles, all requests to it and to its pool are paused. As long as one address may be at
 * fault, the others wait for at most `maxPause` each time.
 */
import { Clock, Duration, Effect, Random, Schema, Semaphore } from "effect"

export interface PacingPolicy {
  readonly interval: Duration.Input
  /** Pause after a throttling response without a duration; doubles with each consecutive one. */
  readonly initialPause: Duration.Input
  readonly maxPause: Duration.Input
  /** For a longer pause, a request fails immediately. */
  readonly maxWait: Duration.Input
  /** For the sum of all pauses of one host. During a further one, its requests fail. */
  readonly maxTotalPause: Duration.Input
  /** Number of addresses that a host throttles in a row before its pauses are as long as it requires. */
  readonly minThrottled: number
  /** Interval of a host from its first throttling response to the end of the run, if longer than usual. */
  readonly throttledInterval: Duration.Input
  /** Maximum number of concurrent requests of a pool, by the name of the pool in `SourceRequest`. */
  readonly pools: Readonly<Record<string, number>>
}

export class PoolPaused extends Schema.TaggedError<PoolPaused>()("PoolPaused", {
  pool: Schema.String,
  until: Schema.Int,
  because_of: Schema.NullOr(Schema.String)
}) {
  override get message() {
    const until = new Date(this.until).toISOString()
    if (this.because_of === null) return `${this.pool} requires a pause until ${until}`
    return `all hosts of the ${this.pool} are paused until ${until}, because ${this.because_of} requires it`
  }
}

/** The name of a pool that hosts share. It cannot be the name of a host. */
export const nameSharedPool = (name: string) => `pool ${name}`

interface Pool {
  readonly slots: Semaphore.Semaphore
  readonly maxConcurrency: number
  nextAt: number
  pausedUntil: number
  because_of: string | null
  throttleCount: number
  /** Addresses that were throttled since the last success. */
  readonly throttled: Set<string>
  totalPause: number
  isSlowed: boolean
}

/** A delay of about `first * 2^(n - 1)`, limited to `max`, then varied by up to a quarter in either direction. */
export const backOff = (n: number, first: Duration.Input, max: Duration.Input) => {
  const delay = Math.min(Duration.toMillis(max), Duration.toMillis(first) * 2 ** (n - 1))
  return Effect.map(Random.nextBetween(0.75, 1.25), (jitter) => Math.round(delay * jitter))
}

export const makePacing = (policy: PacingPolicy) => {
  const maxConcurrencies = new Map(Object.entries(policy.pools).map(([name, max]) => [nameSharedPool(name), max]))
  const maxWait = Duration.toMillis(policy.maxWait)
  const pools = new Map<string, Pool>()
  const findPool = (name: string): Pool => {
    const known = pools.get(name)
    if (known) return known
    const maxConcurrency = maxConcurrencies.get(name) ?? 1
    const slots = Semaphore.makeUnsafe(maxConcurrency)
    const unused = { nextAt: 0, pausedUntil: 0, because_of: null, throttleCount: 0, totalPause: 0, isSlowed: false }
    const pool = { slots, maxConcurrency, throttled: new Set<string>(), ...unused }
    pools.set(name, pool)
    return pool
  }

  /** A pool with n slots starts requests n times as often, even if a host needs a longer interval. */
  const chooseInterval = ({ isSlowed, maxConcurrency }: Pool, interval: Duration.Input) => {
    const usual = Duration.toMillis(policy.interval)
    if (maxConcurrency > 1) return usual / maxConcurrency
    return Math.max(usual, Duration.toMillis(interval), isSlowed ? Duration.toMillis(policy.throttledInterval) : 0)
  }

  const maxTotalPause = Duration.toMillis(policy.maxTotalPause)
  const isOfHost = ({ throttled }: Pool) => throttled.size >= policy.minThrottled
  const isUsedUp = (pool: Pool) => pool.maxConcurrency === 1 && pool.totalPause > maxTotalPause && isOfHost(pool)

  /**
   * Waits for the pool and occupies it until the scope closes. A host must be occupied before the pool that it shares.
   * `check` runs when it is the turn of this request, before the interval passes.
   */
  const take = Effect.fnUntraced(function* <E = never>(
    name: string,
    interval: Duration.Input = 0,
    check: Effect.Effect<void, E> = Effect.void
  ) {
    const pool = findPool(name)
    yield* Effect.acquireRelease(pool.slots.take(1), () => pool.slots.release(1), { interruptible: true })
    yield* check
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const start = Math.max(now, pool.nextAt, pool.pausedUntil)
      if (start - now > maxWait || (pool.pausedUntil > now && isUsedUp(pool))) {
        return yield* new PoolPaused({ pool: name, until: Math.ceil(start), because_of: pool.because_of })
      }
      if (start === now) {
        pool.nextAt = now + chooseInterval(pool, interval)
        return
      }
      yield* Effect.sleep(start - now) // then checks again: others may have used or paused the pool
    }
  })

  /**
   * Pauses a pool after a throttling response of this host and address. Returns the pause that is required of the address,
   * and the longest acceptable one, in milliseconds. If the pool serves several requests at once, or other addresses of
   * the host may not be throttled, the pause of the pool is at most `maxPause`, even if the host requests more.
   */
  const pause = Effect.fnUntraced(function* (name: string, requested: number | undefined, host = name, address = host) {
    const pool = findPool(name)
    const now = yield* Clock.currentTimeMillis
    const isShared = pool.maxConcurrency > 1
    if (!isShared || pool.pausedUntil <= now) pool.throttleCount += 1 // responses to parallel requests count as one
    const backoff = yield* backOff(pool.throttleCount, policy.initialPause, policy.maxPause)
    const max = isShared ? Duration.toMillis(policy.maxPause) : Number.POSITIVE_INFINITY
    const wait = Math.min(requested ?? backoff, max)
    const remaining = isShared ? maxWait : maxTotalPause - pool.totalPause
    pool.throttled.add(address)
    const poolWait = isOfHost(pool) ? wait : Math.min(wait, Duration.toMillis(policy.maxPause), maxWait)
    pool.pausedUntil = Math.max(pool.pausedUntil, now + poolWait)
    pool.because_of = name === host ? null : host
    pool.totalPause += poolWait
    pool.isSlowed = true
    return { wait, maxWait: Math.max(0, Math.min(maxWait, remaining)) }
  })

  /** After a successful response, the next throttling starts again from `initialPause`. */
  const resetBackoff = (name: string) => {
    const pool = findPool(name)
    pool.throttleCount = 0
    pool.throttled.clear()
  }

  return { take, pause, resetBackoff }
}

/** Longer waits make no difference, and a date after the end of the calendar cannot be shown. */
const oneYear = 365 * 86_400_000

/** Parses a `Retry-After` header, in seconds or as an HTTP date, to milliseconds; undefined if it is neither. */
export const parseRetryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ""
  if (/^\d+$/.test(text)) return Math.min(oneYear, Number(text) * 1000)
  const at = / GMT$/.test(text) ? Date.parse(text) : Number.NaN // Date.parse alone reads "-5" as a year
  return Number.isNaN(at) ? undefined : Math.min(oneYear, Math.max(0, at - now))
}
