/**
 * Failed sign-ins, kept in memory. After the first few, the next attempt has to wait, each time twice as long. An
 * attempt counts as failed until its result is reported, so parallel attempts gain nothing. Each server counts for itself.
 *
 * Failures in unknown browsers count for the e-mail from one network, for the IP address and for its network. Against
 * attackers who have many networks, they also count for the e-mail from all networks, with a higher limit and shorter
 * waits. Such attackers can keep the owner of the e-mail from signing in with a new browser, but they cannot lock out a
 * browser that the owner has signed in with before, or an owner who is signed in: each of those has its own count. A
 * one-time link has a count of the taken e-mail addresses that were tried with it.
 */
import { Record } from "effect"
import { findNetwork } from "./networks.ts"
import { TooManyAttempts } from "./person.ts"

interface Limit {
  /** Failures before the first wait. */
  readonly free: number
  /** Milliseconds. */
  readonly maxWait: number
}

interface Failures {
  readonly count: number
  /** Milliseconds; when the latest attempt began. */
  readonly last: number
}

const firstWait = 1_000
const minute = 60_000
const maxAge = 60 * minute
/** Beyond this, a new name evicts the one that failed longest ago. */
const maxNames = 20_000

/**
 * Many people may share an IP address behind the gateway of a company, and many customers of a provider may share 48
 * bits of IPv6. One guess per minute does not find a password of twelve characters.
 */
const limits = {
  known: { free: 5, maxWait: 15 * minute },
  emailFromNetwork: { free: 5, maxWait: 15 * minute },
  address: { free: 20, maxWait: 15 * minute },
  network: { free: 200, maxWait: minute },
  email: { free: 50, maxWait: minute }
} satisfies Record<string, Limit>

const makeCounter = ({ free, maxWait }: Limit) => {
  const failures = new Map<string, Failures>() // in the order of their latest failure
  const computeWait = (count: number) => (count < free ? 0 : Math.min(maxWait, firstWait * 2 ** (count - free)))
  const read = (name: string, now: number): Failures => {
    const found = failures.get(name)
    return found === undefined || now - found.last > maxAge
      ? { count: 0, last: now }
      : { ...found, last: Math.min(found.last, now) } // in case a clock was set back
  }
  const store = (name: string, state: Failures) => {
    failures.delete(name)
    if (state.count > 0) failures.set(name, state)
    const oldest = failures.size > maxNames ? failures.keys().next() : undefined
    if (oldest?.done === false) failures.delete(oldest.value)
  }
  return {
    /** In milliseconds. */
    remainingWait: (name: string, now: number) => {
      const { count, last } = read(name, now)
      return Math.max(0, last + computeWait(count) - now)
    },
    /** Returns a function that undoes it. The earlier wait then continues, unless another attempt has begun since. */
    begin: (name: string, now: number) => {
      const previous = read(name, now)
      store(name, { count: previous.count + 1, last: now })
      return (time: number) => {
        const { count, last } = read(name, time)
        store(name, { count: count - 1, last: last === now ? previous.last : last })
      }
    },
    withdraw: (name: string, now: number) => {
      const { count, last } = read(name, now)
      store(name, { count: count - 1, last })
    },
    clear: (name: string) => failures.delete(name)
  }
}

type Counter = ReturnType<typeof makeCounter>
type Counted = ReadonlyArray<readonly [Counter, name: string]>

const secondsToWait = (counted: Counted, now: number) =>
  Math.ceil(Math.max(...counted.map(([counter, name]) => counter.remainingWait(name, now))) / 1_000)

/** An attempt counts as failed until its result is reported. */
const beginAttempt = (own: Counted, shared: Counted, now: number) => {
  const counted = [...own, ...shared]
  const seconds = secondsToWait(counted, now)
  if (seconds > 0) return new TooManyAttempts({ seconds })
  for (const [counter, name] of own) counter.begin(name, now)
  const undoFunctions = shared.map(([counter, name]) => counter.begin(name, now))
  return {
    /**
     * The password was right: failures under the person's own names are deleted. Other failures of the IP address
     * stay, and their wait does not start again, because other people sign in from there, too.
     */
    succeed: (now: number) => {
      for (const [counter, name] of own) counter.clear(name)
      for (const undo of undoFunctions) undo(now)
    },
    /** The attempt could not be checked. */
    withdraw: (now: number) => {
      for (const [counter, name] of counted) counter.withdraw(name, now)
    },
    /** Seconds until the next attempt may begin, after this one has failed. */
    secondsToWait: (now: number) => secondsToWait(counted, now)
  }
}
export type Attempt = Exclude<ReturnType<typeof beginAttempt>, TooManyAttempts>

export const makeAttempts = () => {
  const counters = Record.map(limits, makeCounter)
  return {
    beginUnknown: (email: string, address: string, now: number) => {
      const network = findNetwork(address, 48)
      return beginAttempt(
        [
          [counters.emailFromNetwork, `${network} ${email}`],
          [counters.email, email]
        ],
        [
          [counters.address, findNetwork(address, 64)],
          [counters.network, network]
        ],
        now
      )
    },
    /** `name` identifies a browser that the person has signed in with, a signed-in person, or a one-time link. */
    beginKnown: (name: string, now: number) => beginAttempt([[counters.known, name]], [], now)
  }
}
