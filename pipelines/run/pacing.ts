/**
 * Turns. A lane (a host, or several hosts of one platform) serves one request at a time, with an interval from the start of
 * one to the start of the next. A lane that throttles is paused for everybody who asks there, not only for the one it told.
 */
import { Clock, Duration, Effect, Random, Schema, Semaphore } from "effect"

export interface PacingPolicy {
  readonly interval: Duration.Input
  /** Pause after a throttling answer that does not say how long; doubles with each one that follows. */
  readonly firstPause: Duration.Input
  readonly longestPause: Duration.Input
  /** The longest pause that a run sits out. Above it, asking fails at once. */
  readonly patience: Duration.Input
}

export class LanePaused extends Schema.TaggedError<LanePaused>()("LanePaused", {
  lane: Schema.String,
  until: Schema.Int
}) {
  override get message() {
    return `${this.lane} asked for a pause until ${new Date(this.until).toISOString()}`
  }
}

interface Lane {
  readonly turn: Semaphore.Semaphore
  nextAt: number
  throttled: number
}

/** A delay of about `first * 2^(n - 1)`, at most `longest`, a quarter up or down. */
export const backOff = (n: number, first: Duration.Input, longest: Duration.Input) => {
  const delay = Math.min(Duration.toMillis(longest), Duration.toMillis(first) * 2 ** (n - 1))
  return Effect.map(Random.nextBetween(0.75, 1.25), (jitter) => Math.round(delay * jitter))
}

export const makePacing = (policy: PacingPolicy) => {
  const lanes = new Map<string, Lane>()
  const laneOf = (name: string): Lane => {
    const known = lanes.get(name)
    if (known) return known
    const lane = { turn: Semaphore.makeUnsafe(1), nextAt: 0, throttled: 0 }
    lanes.set(name, lane)
    return lane
  }

  /** Waits for the lane and keeps it until the scope closes. Take a host before the lane that it shares with others. */
  const take = Effect.fnUntraced(function* (name: string, interval: Duration.Input = 0) {
    const lane = laneOf(name)
    yield* Effect.acquireRelease(lane.turn.take(1), () => lane.turn.release(1), { interruptible: true })
    const wait = lane.nextAt - (yield* Clock.currentTimeMillis)
    if (wait > Duration.toMillis(policy.patience)) return yield* new LanePaused({ lane: name, until: lane.nextAt })
    if (wait > 0) yield* Effect.sleep(wait)
    const gap = Math.max(Duration.toMillis(policy.interval), Duration.toMillis(interval))
    lane.nextAt = (yield* Clock.currentTimeMillis) + gap
  })

  /** After a throttling answer. Returns the pause in milliseconds. */
  const pause = Effect.fnUntraced(function* (name: string, asked: number | undefined) {
    const lane = laneOf(name)
    lane.throttled += 1
    const own = yield* backOff(lane.throttled, policy.firstPause, policy.longestPause)
    const wait = asked ?? own
    lane.nextAt = Math.max(lane.nextAt, (yield* Clock.currentTimeMillis) + wait)
    return wait
  })

  /** After a good answer the next throttling starts from the first pause again. */
  const answered = (name: string) => {
    laneOf(name).throttled = 0
  }

  return { take, pause, answered }
}
