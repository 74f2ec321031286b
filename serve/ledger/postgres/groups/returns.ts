/** What a server returns to the database: leases and slices that it does not use or others request, and ended holds. */
import type { Hold } from "../../rules/admission.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import type { GroupQueue } from "./group.ts"
import { lockoutDuration } from "./locked-accounts.ts"

/** Leases beyond this number are returned, the oldest first. */
const maxLeases = 20_000

export const makeReturns = (options: {
  readonly known: KnownAccounts
  readonly queue: GroupQueue
  /** Returns a check: whether the server is still the same member as now, and can write. */
  readonly makeMembershipCheck: () => () => boolean
}) => {
  const { known, queue, makeMembershipCheck } = options
  /** Also works for a lease that the server has already ended in memory, but not yet in the database. */
  const returnLease = (id: string) => {
    known.endLease(id)
    queue.open().returned.add(id)
  }
  const returnLeases = (ids: Iterable<string>) => {
    for (const id of ids) returnLease(id)
  }

  /** Accounts with a slice that the server has used, or begun, since the last heartbeat. */
  const slicesInUse = new Set<string>()

  return {
    returnLeases,
    markSliceUsed: (id: string): void => {
      slicesInUse.add(id)
    },
    /** Runs at each heartbeat. Otherwise another server would have to request them before it can spend the last credits. */
    returnIdleSlices: (): void => {
      for (const id of known.leased()) if (known.isSliced(id) && !slicesInUse.has(id)) returnLease(id)
      slicesInUse.clear()
    },
    /** For locked accounts: without the delay, the next group would wait for the same lock, and delay all calls. */
    returnLater: (ids: ReadonlySet<string>): void => {
      if (ids.size === 0) return
      const copy = [...ids]
      const isMember = makeMembershipCheck()
      setTimeout(() => isMember() && returnLeases(copy), lockoutDuration).unref()
    },
    returnSurplus: (): void => {
      let surplus = [...known.leased()].length - maxLeases
      for (const id of known.leased()) if (surplus-- > 0) returnLease(id)
    },
    /** The call has ended without a charge, or can no longer be charged. */
    returnHold: (hold: Hold): void => {
      known.unregister(hold)
      const id = hold.key.record.account_id
      if (!known.isLeased(id) && !known.returnToSlice(hold)) queue.open().released.add(id)
    }
  }
}

export type Returns = ReturnType<typeof makeReturns>
