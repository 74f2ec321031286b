/**
 * Turns. A host serves one request at a time, with an interval from the start of one request to the start of the next.
 * Hosts of one platform may also share a lane, which may serve several requests at once. If a host throttles, all
 * requests to it and to its lane are paused, not only the one that was throttled.
 */
import { Clock, Duration, Effect, Random, Schema, Semaphore } from "effect"

export interface PacingPolicy {
  readonly interval: Duration.Input
  /** Pause after a throttling response that does not say how long; doubles with each consecutive one. */
  readonly firstPause: Duration.Input
  readonly longestPause: Duration.Input
  /** The longest pause that a run waits out. For a longer one, a request fails immediately. */
  readonly patience: Duration.Input
  /** Limit for the sum of all pauses of one host that a run waits out. */
  readonly endurance: Duration.Input
  /** Interval of a host from its first throttling response to the end of the run, if longer than usual. */
  readonly slowed: Duration.Input
  /** Number of requests that a lane serves at once, by the name of the lane in `SourceRequest`. */
  readonly lanes: Readonly<Record<string, number>>
}

export class LanePaused extends Schema.TaggedError<LanePaused>()("LanePaused", {
  lane: Schema.String,
  until: Schema.Int,
  /** The host that throttled, if the lane is not a host. */
  because_of: Schema.NullOr(Schema.String)
}) {
  override get message() {
    const until = new Date(this.until).toISOString()
    if (this.because_of === null) return `${this.lane} asked for a pause until ${until}`
    return `all hosts of the ${this.lane} are paused until ${until}, because ${this.because_of} asked for it`
  }
}

/** The name of a lane that hosts share. It cannot be the name of a host. */
export const sharedLane = (name: string) => `lane ${name}`

interface Lane {
  readonly turn: Semaphore.Semaphore
  readonly turns: number
  nextAt: number
  pausedUntil: number
  because_of: string | null
  /** Consecutive throttling responses. */
  throttled: number
  /** Sum of all pauses so far, in milliseconds. */
  paused: number
  /** Throttled at least once in this run. */
  isSlowed: boolean
}

/** A delay of about `first * 2^(n - 1)`, limited to `longest`, then varied by up to a quarter in either direction. */
export const backOff = (n: number, first: Duration.Input, longest: Duration.Input) => {
  const delay = Math.min(Duration.toMillis(longest), Duration.toMillis(first) * 2 ** (n - 1))
  return Effect.map(Random.nextBetween(0.75, 1.25), (jitter) => Math.round(delay * jitter))
}

export const makePacing = (policy: PacingPolicy) => {
  const turnsOf = new Map(Object.entries(policy.lanes).map(([name, turns]) => [sharedLane(name), turns]))
  const patience = Duration.toMillis(policy.patience)
  const lanes = new Map<string, Lane>()
  const laneOf = (name: string): Lane => {
    const known = lanes.get(name)
    if (known) return known
    const turns = turnsOf.get(name) ?? 1
    const turn = Semaphore.makeUnsafe(turns)
    const lane = { turn, turns, nextAt: 0, pausedUntil: 0, because_of: null, throttled: 0, paused: 0, isSlowed: false }
    lanes.set(name, lane)
    return lane
  }

  /** A lane with several turns starts requests that many times as often, even if a host needs a longer interval. */
  const gapOf = ({ isSlowed, turns }: Lane, interval: Duration.Input) => {
    const usual = Duration.toMillis(policy.interval)
    if (turns > 1) return usual / turns
    return Math.max(usual, Duration.toMillis(interval), isSlowed ? Duration.toMillis(policy.slowed) : 0)
  }

  /** Waits for the lane and holds it until the scope closes. Take a host before the lane that it shares with others. */
  const take = Effect.fnUntraced(function* (name: string, interval: Duration.Input = 0) {
    const lane = laneOf(name)
    yield* Effect.acquireRelease(lane.turn.take(1), () => lane.turn.release(1), { interruptible: true })
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      const start = Math.max(now, lane.nextAt, lane.pausedUntil)
      if (start - now > patience) {
        return yield* new LanePaused({ lane: name, until: Math.ceil(start), because_of: lane.because_of })
      }
      if (start === now) {
        lane.nextAt = now + gapOf(lane, interval)
        return
      }
      yield* Effect.sleep(start - now) // then checks again: others may have used or paused the lane
    }
  })

  /**
   * Pauses a lane after a throttling response of this host. Returns the pause, and the longest one that is still waited
   * out, in milliseconds. If the lane serves several requests at once, it waits at most `longestPause`, even if the
   * host asks for more.
   */
  const pause = Effect.fnUntraced(function* (name: string, asked: number | undefined, host = name) {
    const lane = laneOf(name)
    const now = yield* Clock.currentTimeMillis
    const isShared = lane.turns > 1
    if (!isShared || lane.pausedUntil <= now) lane.throttled += 1 // responses to parallel requests count as one
    const own = yield* backOff(lane.throttled, policy.firstPause, policy.longestPause)
    const longest = isShared ? Duration.toMillis(policy.longestPause) : Number.POSITIVE_INFINITY
    const wait = Math.min(asked ?? own, longest)
    const endures = isShared ? patience : Duration.toMillis(policy.endurance) - lane.paused
    lane.pausedUntil = Math.max(lane.pausedUntil, now + wait)
    lane.because_of = name === host ? null : host
    lane.paused += wait
    lane.isSlowed = true
    return { wait, patience: Math.max(0, Math.min(patience, endures)) }
  })

  /** After a good response, the next throttling starts again from `firstPause`. */
  const answered = (name: string) => {
    laneOf(name).throttled = 0
  }

  return { take, pause, answered }
}
