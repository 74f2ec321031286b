/** Tracks accounts that another database session has locked, and rejects their calls for a few seconds. */
import { toLedgerUnavailable } from "../../errors.ts"

/** Milliseconds for which the calls of a locked account are rejected immediately, so that they do not occupy a connection. */
const lockoutDuration = 5_000

/** `now` is monotonic, in milliseconds. */
export const trackLockedAccounts = (now: () => number) => {
  const rejectUntil = new Map<string, number>()
  /** Accounts whose last group timed out on their lock. */
  const suspects = new Set<string>()
  return {
    /** Throws while the account is locked out. */
    rejectIfLockedOut: (id: string): void => {
      const until = rejectUntil.get(id)
      if (until === undefined) return
      if (now() < until) {
        throw toLedgerUnavailable("be written")(`another session has locked account ${id} in the database`)
      }
      rejectUntil.delete(id)
    },
    isSuspect: (id: string): boolean => suspects.has(id),
    suspect: (id: string): void => {
      suspects.add(id)
    },
    lockOut: (id: string): void => {
      suspects.delete(id)
      rejectUntil.set(id, now() + lockoutDuration)
    },
    /** The database is lost: calls will have waited for it, and not for an account. */
    clearAll: (): void => {
      suspects.clear()
      rejectUntil.clear()
    },
    /** Its lock was obtained. */
    clear: (ids: Iterable<string>): void => {
      if (suspects.size + rejectUntil.size === 0) return
      for (const id of ids) {
        suspects.delete(id)
        rejectUntil.delete(id)
      }
    }
  }
}

export type LockedAccounts = ReturnType<typeof trackLockedAccounts>
