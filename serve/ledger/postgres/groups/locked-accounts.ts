/** Accounts whose row another session has locked in the database. Their calls are refused for a while. */
import { toLedgerUnavailable } from "../../errors.ts"

/** Milliseconds for which calls of a locked account are refused, so that other calls do not wait each time. */
export const lockoutDuration = 5_000
/**
 * Groups in a row that find an account locked, for a second each, before its calls are refused. Other servers lock a
 * busy account one after the other, which is not a reason to refuse. With more, the calls of all other accounts wait.
 */
const maxLockedGroups = 2

export const trackLockedAccounts = () => {
  const locked = new Map<string, number>()
  const lockouts = new Map<string, number>()
  return {
    refuse: (id: string): void => {
      const until = locked.get(id)
      if (until === undefined) return
      if (performance.now() < until) {
        throw toLedgerUnavailable("be written")(`another session has locked account ${id} in the database`)
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
