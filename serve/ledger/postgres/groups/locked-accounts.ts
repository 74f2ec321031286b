/** Tracks accounts that another database session has locked, and rejects their calls for a few seconds. */
import { toLedgerUnavailable } from "../../errors.ts"

/** Milliseconds for which the calls of a locked account are rejected immediately, so that they do not delay other calls. */
export const lockoutDuration = 5_000
/**
 * Consecutive groups that may time out on a locked account, after a second each, before its calls are rejected. One
 * timeout is normal, because other servers lock a busy account one after the other. A higher limit delays other calls.
 */
const maxLockTimeouts = 2

export const trackLockedAccounts = () => {
  const rejectUntil = new Map<string, number>()
  const lockTimeouts = new Map<string, number>()
  return {
    /** Throws while the account is locked out. */
    rejectIfLockedOut: (id: string): void => {
      const until = rejectUntil.get(id)
      if (until === undefined) return
      if (performance.now() < until) {
        throw toLedgerUnavailable("be written")(`another session has locked account ${id} in the database`)
      }
      rejectUntil.delete(id)
    },
    isSuspect: (id: string): boolean => lockTimeouts.has(id),
    /** Records that a group timed out on the account's lock. Returns whether another group may try. */
    recordTimeout: (id: string): boolean => {
      const times = (lockTimeouts.get(id) ?? 0) + 1
      lockTimeouts.set(id, times)
      // if several accounts time out, all may be locked, and each retry would cost a second
      return times < maxLockTimeouts && lockTimeouts.size === 1
    },
    lockOut: (id: string): void => {
      rejectUntil.set(id, performance.now() + lockoutDuration)
    },
    /** Call this when the account is not locked, or when no caller waits for it any more. */
    reset: (id: string): void => {
      lockTimeouts.delete(id)
    },
    resetAll: (): void => lockTimeouts.clear()
  }
}

export type LockedAccounts = ReturnType<typeof trackLockedAccounts>
