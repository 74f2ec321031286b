/**
 * Failed sign-ins, remembered in memory: after the first few the next attempt has to wait, each time twice as long. An
 * attempt counts as failed from its start, so that many at once gain nothing. Several servers count each for itself.
 *
 * They count for an e-mail from one address, so that a stranger cannot keep its owner out from elsewhere; for the address;
 * and for the e-mail from everywhere, against those who have many addresses: much later, and with short waits.
 */
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

/** Many people may share an address, behind one company's gateway. A guess a minute finds no password of twelve characters. */
const limits = {
  emailFromAddress: { free: 5, longestWait: 15 * minute },
  address: { free: 20, longestWait: 15 * minute },
  email: { free: 50, longestWait: minute }
} satisfies Record<string, Limit>

const makeCounter = ({ free, longestWait }: Limit) => {
  const failures = new Map<string, Failures>() // the one that failed last stands last
  const waitAfter = (count: number) => (count < free ? 0 : Math.min(longestWait, firstWait * 2 ** (count - free)))
  const of = (name: string, now: number): Failures => {
    const found = failures.get(name)
    return found === undefined || now - found.last > memory ? { count: 0, last: now } : found
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
    begin: (name: string, now: number) => remember(name, { count: of(name, now).count + 1, last: now }),
    takeBack: (name: string, now: number) => {
      const { count, last } = of(name, now)
      remember(name, { count: count - 1, last })
    },
    forget: (name: string) => failures.delete(name)
  }
}

/** An attempt that has begun and counts as failed until it is told otherwise. */
export interface Attempt {
  /** The right person: her failures are forgotten; the address's other failures stay. */
  readonly succeeded: (now: number) => void
  /** Nobody could judge it. */
  readonly withdrawn: (now: number) => void
}

export const makeAttempts = () => {
  const emailsFromAddresses = makeCounter(limits.emailFromAddress)
  const addresses = makeCounter(limits.address)
  const emails = makeCounter(limits.email)
  return {
    /** `address` is undefined where the person is signed in already. */
    begin: (email: string, address: string | undefined, now: number): Attempt | TooManyAttempts => {
      const own = [
        [emailsFromAddresses, `${address ?? ""} ${email}`],
        [emails, email]
      ] as const
      const all = address === undefined ? own : ([...own, [addresses, address]] as const)
      const wait = Math.max(...all.map(([counter, name]) => counter.wait(name, now)))
      if (wait > 0) return new TooManyAttempts({ seconds: Math.ceil(wait / 1_000) })
      for (const [counter, name] of all) counter.begin(name, now)
      return {
        succeeded: (now) => {
          for (const [counter, name] of own) counter.forget(name)
          if (address !== undefined) addresses.takeBack(address, now)
        },
        withdrawn: (now) => {
          for (const [counter, name] of all) counter.takeBack(name, now)
        }
      }
    }
  }
}
