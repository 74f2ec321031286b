/**
 * Turns. A host serves one request at a time, with an interval from the start of one to the start of the next. Hosts of one
 * platform may share a lane on top of that, which may serve several at once. Where one throttles, everybody who asks there is
 * paused, not only the one it told.
 */
import { Clock, Duration, Effect, Random, Schema, Semaphore } from "effect"

export interface PacingPolicy {
  readonly interval: Duration.Input
  /** Pause after a throttling answer that does not say how long; doubles with each one that follows. */
  readonly firstPause: Duration.Input
  readonly longestPause: Duration.Input
  /** The longest pause that a run sits out. Above it, asking fails at once. */
  readonly patience: Duration.Input
  /** All pauses of one host together that a run sits out. */
  readonly endurance: Duration.Input
  /** Interval of a host from its first throttling answer to the end of the run, where that is more than the usual. */
  readonly slowed: Duration.Input
  /** Lanes that serve several requests at once, by their names in `Ask`. */
  readonly lanes: Readonly<Record<string, number>>
}

export class LanePaused extends Schema.TaggedError<LanePaused>()("LanePaused", {
  lane: Schema.String,
  until: Schema.Int,
  /** The host that throttled, where the lane is not a host. */
  because_of: Schema.NullOr(Schema.String)
}) {
  override get message() {
    const until = new Date(this.until).toISOString()
    if (this.because_of === null) return `${this.lane} asked for a pause until ${until}`
    return `all hosts of the ${this.lane} are paused until ${until}, because ${this.because_of} asked for it`
  }
}

/** The name of a lane that hosts share. No host is called so. */
export const sharedLane = (name: string) => `lane ${name}`

interface Lane {
  readonly turn: Semaphore.Semaphore
  readonly turns: number
  nextAt: number
  pausedUntil: number
  because_of: string | null
  /** Throttling answers in a row. */
  throttled: number
  /** All pauses so far, in milliseconds. */
  paused: number
  /** Throttled at least once in this run. */
  isSlowed: boolean
}

/** A delay of about `first * 2^(n - 1)`, at most `longest`, a quarter up or down. */
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

  /** A lane of several turns begins them that much more often, and one host that wants to be asked slowly does not slow it. */
  const gapOf = ({ isSlowed, turns }: Lane, interval: Duration.Input) => {
    const usual = Duration.toMillis(policy.interval)
    if (turns > 1) return usual / turns
    return Math.max(usual, Duration.toMillis(interval), isSlowed ? Duration.toMillis(policy.slowed) : 0)
  }

  /** Waits for the lane and keeps it until the scope closes. Take a host before the lane that it shares with others. */
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
      yield* Effect.sleep(start - now) // then look again: others hold turns of the same lane, and it may have been paused
    }
  })

  /**
   * After a throttling answer of this host. Answers with the pause, and with the longest one that is still sat out, in
   * milliseconds. Other hosts of a lane wait no longer for what one asks than the longest pause of our own.
   */
  const pause = Effect.fnUntraced(function* (name: string, asked: number | undefined, host = name) {
    const lane = laneOf(name)
    const now = yield* Clock.currentTimeMillis
    const isShared = lane.turns > 1
    if (!isShared || lane.pausedUntil <= now) lane.throttled += 1 // answers to requests sent side by side count as one
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

  /** After a good answer the next throttling starts from the first pause again. */
  const answered = (name: string) => {
    laneOf(name).throttled = 0
  }

  return { take, pause, answered }
}
