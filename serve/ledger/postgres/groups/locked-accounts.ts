/**
 * Accounts whose row another session has locked in the database. Their calls are refused for a while, so that other
 * calls need not wait.
 */
import { ledgerUnavailable } from "../../errors.ts"

/** Milliseconds for which calls of a locked account are refused, so that other calls do not wait for it each time. */
export const lockoutDuration = 5_000
/**
 * Groups in a row that find an account locked, for a second each, before its calls are refused. Other servers lock a
 * busy account one after the other, each for as long as its disk takes: that is no reason to refuse. A larger number
 * would make the calls of all other accounts wait as often.
 */
const maxLockedGroups = 2

export const trackLockedAccounts = () => {
  /** The time until which the calls of an account are refused. */
  const locked = new Map<string, number>()
  /** How many groups in a row have found an account locked. */
  const lockouts = new Map<string, number>()
  return {
    /** Throws if calls of the account are refused. */
    refuse: (id: string): void => {
      const until = locked.get(id)
      if (until === undefined) return
      if (performance.now() < until) {
        throw ledgerUnavailable("be written")(`another session has locked account ${id} in the database`)
      }
      locked.delete(id)
    },
    isSuspect: (id: string): boolean => lockouts.has(id),
    /** Records that a group has found the account locked. Returns whether another group may try. */
    mayTryAgain: (id: string): boolean => {
      const times = (lockouts.get(id) ?? 0) + 1
      lockouts.set(id, times)
      return times < maxLockedGroups && lockouts.size === 1 // several at once: all may be locked, each costs a second
    },
    lockOut: (id: string): void => {
      locked.set(id, performance.now() + lockoutDuration)
    },
    /** To be called when the account is not locked, or no caller waits any more. */
    forget: (id: string): void => {
      lockouts.delete(id)
    },
    forgetAll: (): void => lockouts.clear()
  }
}

export type LockedAccounts = ReturnType<typeof trackLockedAccounts>
