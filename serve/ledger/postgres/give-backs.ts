/** What a server gives back to the database: leases and slices that others ask for or that it does not use, and holds of calls that have ended. */
import type { Hold } from "../machine.ts"
import type { GroupQueue } from "./group-queue.ts"
import type { KnownAccounts } from "./known-accounts.ts"
import { lockedOut } from "./locked-accounts.ts"

/** More leases than that are given back, those taken longest ago first. */
const mostLeases = 20_000

export const giveBacks = (options: {
  readonly known: KnownAccounts
  readonly queue: GroupQueue
  /** Answers whether the server is still the member that it is now, and can write. */
  readonly whileMember: () => () => boolean
}) => {
  const { known, queue, whileMember } = options
  /** Also where the server has begun to end the lease, and could not write that. */
  const give = (id: string) => {
    known.endLease(id)
    queue.open().returned.add(id)
  }
  const giveAll = (ids: Iterable<string>) => {
    for (const id of ids) give(id)
  }

  /** Accounts of which the server has a slice that it has used, or begun, since the last beat. */
  const slicesInUse = new Set<string>()

  return {
    giveAll,
    useSlice: (id: string): void => {
      slicesInUse.add(id)
    },
    /** At each beat. Another server would have to ask for them before it can spend the last credits, and to wait. */
    giveIdleSlices: (): void => {
      for (const id of known.leased()) if (known.isSliced(id) && !slicesInUse.has(id)) give(id)
      slicesInUse.clear()
    },
    /** An account is locked. At once the group would meet the same lock, for which all other calls wait. */
    giveLater: (ids: ReadonlySet<string>): void => {
      if (ids.size === 0) return
      const asked = [...ids]
      const isMember = whileMember()
      setTimeout(() => isMember() && giveAll(asked), lockedOut).unref()
    },
    giveSurplus: (): void => {
      let tooMany = [...known.leased()].length - mostLeases
      for (const id of known.leased()) if (tooMany-- > 0) give(id)
    },
    /** The call has ended without a charge, or cannot be charged any more. */
    giveHold: (hold: Hold): void => {
      known.unregister(hold)
      const id = hold.key.record.account_id
      if (!known.isLeased(id) && !known.backIntoSlice(hold)) queue.open().released.add(id)
    }
  }
}

export type GiveBacks = ReturnType<typeof giveBacks>
