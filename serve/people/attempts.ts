/**
 * Failed sign-ins, remembered in memory: after the first few the next attempt has to wait, each time twice as long. An
 * attempt counts as failed from its start, so that many at once gain nothing. Several servers count each for itself.
 *
 * Those of strangers count for an e-mail from one network, for the address and its network, and, much later and with short
 * waits, for the e-mail from everywhere: against those who have many networks. These can so keep its owner from signing in
 * with a browser that is new to her. They cannot keep out a browser that she has signed in with before, nor her who is
 * signed in: those count for themselves alone. So does a one-time link, of which every answer that an e-mail is taken counts.
 */
import { networkOf } from "./networks.ts"
import { TooManyAttempts } from "./people.ts"

interface Limit {
  /** Failures that cost no wait. */
  readonly free: number
  /** Milliseconds. */
  readonly longestWait: number
}

interface Failures {
  readonly count: number
  /** Milliseconds; when the latest attempt began. */
  readonly last: number
}

const firstWait = 1_000
const minute = 60_000
/** Failures that lie back so long are forgotten. */
const memory = 60 * minute
/** Names that are remembered; who fails with more of them pushes out the one that failed longest ago. */
const mostNames = 20_000

/**
 * Many people may share an address, behind one company's gateway, and many customers of a provider 48 bits of IPv6. A guess
 * a minute finds no password of twelve characters.
 */
const limits = {
  known: { free: 5, longestWait: 15 * minute },
  emailFromNetwork: { free: 5, longestWait: 15 * minute },
  address: { free: 20, longestWait: 15 * minute },
  network: { free: 200, longestWait: minute },
  email: { free: 50, longestWait: minute }
} satisfies Record<string, Limit>

const makeCounter = ({ free, longestWait }: Limit) => {
  const failures = new Map<string, Failures>() // the one that failed last stands last
  const waitAfter = (count: number) => (count < free ? 0 : Math.min(longestWait, firstWait * 2 ** (count - free)))
  const of = (name: string, now: number): Failures => {
    const found = failures.get(name)
    return found === undefined || now - found.last > memory
      ? { count: 0, last: now }
      : { ...found, last: Math.min(found.last, now) } // a clock was set back
  }
  const remember = (name: string, state: Failures) => {
    failures.delete(name)
    if (state.count > 0) failures.set(name, state)
    const oldest = failures.size > mostNames ? failures.keys().next() : undefined
    if (oldest?.done === false) failures.delete(oldest.value)
  }
  return {
    /** Milliseconds to wait. */
    wait: (name: string, now: number) => {
      const { count, last } = of(name, now)
      return Math.max(0, last + waitAfter(count) - now)
    },
    /** Answers with what makes it undone: unless another has begun since, the wait goes on from where it was. */
    begin: (name: string, now: number) => {
      const earlier = of(name, now)
      remember(name, { count: earlier.count + 1, last: now })
      return (at: number) => {
        const { count, last } = of(name, at)
        remember(name, { count: count - 1, last: last === now ? earlier.last : last })
      }
    },
    takeBack: (name: string, now: number) => {
      const { count, last } = of(name, now)
      remember(name, { count: count - 1, last })
    },
    forget: (name: string) => failures.delete(name)
  }
}

/** An attempt that has begun and counts as failed until it is told otherwise. */
export interface Attempt {
  /**
   * The right person: what failed under these names is forgotten. The address's other failures stay, and the wait after
   * them does not begin anew: others sign in from there, too.
   */
  readonly succeeded: (now: number) => void
  /** Nobody could judge it. */
  readonly withdrawn: (now: number) => void
  /** Seconds until the next one may begin, after this has failed. */
  readonly waitAfter: (now: number) => number
}

type Counter = ReturnType<typeof makeCounter>
type Counted = ReadonlyArray<readonly [Counter, name: string]>

const longestWaitOf = (counted: Counted, now: number) =>
  Math.ceil(Math.max(...counted.map(([counter, name]) => counter.wait(name, now))) / 1_000)

const begin = (own: Counted, shared: Counted, now: number): Attempt | TooManyAttempts => {
  const all = [...own, ...shared]
  const seconds = longestWaitOf(all, now)
  if (seconds > 0) return new TooManyAttempts({ seconds })
  for (const [counter, name] of own) counter.begin(name, now)
  const undoings = shared.map(([counter, name]) => counter.begin(name, now))
  return {
    succeeded: (now) => {
      for (const [counter, name] of own) counter.forget(name)
      for (const undo of undoings) undo(now)
    },
    withdrawn: (now) => {
      for (const [counter, name] of all) counter.takeBack(name, now)
    },
    waitAfter: (now) => longestWaitOf(all, now)
  }
}

export const makeAttempts = () => {
  const known = makeCounter(limits.known)
  const emailsFromNetworks = makeCounter(limits.emailFromNetwork)
  const addresses = makeCounter(limits.address)
  const networks = makeCounter(limits.network)
  const emails = makeCounter(limits.email)
  return {
    ofStranger: (email: string, address: string, now: number) => {
      const network = networkOf(address, 48)
      return begin(
        [
          [emailsFromNetworks, `${network} ${email}`],
          [emails, email]
        ],
        [
          [addresses, networkOf(address, 64)],
          [networks, network]
        ],
        now
      )
    },
    /** `who` is a browser that the person has signed in with, the person who is signed in, or a one-time link. */
    ofKnown: (who: string, now: number) => begin([[known, who]], [], now)
  }
}
