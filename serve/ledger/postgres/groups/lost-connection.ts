/**
 * When a group gets no usable answer, everything that waits is refused, except the charges of that group: they are in
 * doubt until the server has joined again under another name.
 */
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import type { LeaseTrust, Moment } from "../leases/lease-trust.ts"
import type { Membership, WaitingCharge } from "../leases/membership.ts"
import { wasDiskFull } from "../sql/database.ts"
import type { DeferredCalls } from "./deferred-calls.ts"
import { type CallGroup, type Charge, listOtherWaiting, type Waiting } from "./group.ts"
import type { GroupQueue } from "./group-queue.ts"
import type { LockedAccounts } from "./locked-accounts.ts"

const notWritten = toLedgerUnavailable("be written")

/** Milliseconds. With a full disk, the server can join again, but the next charge is refused, many times a second. */
const diskFullDuration = 1_000

export const makeLostConnection = (options: {
  readonly membership: Membership
  readonly known: KnownAccounts
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly locked: LockedAccounts
  readonly deferred: DeferredCalls
  readonly trust: LeaseTrust
  readonly onLost: (cause: LedgerUnavailable) => void
  /** The server is a member again. The attempt that succeeded began at `since`. */
  readonly onJoined: (since: Moment) => void
}) => {
  const { counters, deferred, known, locked, membership, onJoined, onLost, queue, trust } = options
  let lost: LedgerUnavailable | undefined
  /** When a full disk was last reported. */
  let fullAt = Number.NEGATIVE_INFINITY

  const toWaitingCharge = ({ question, reject, resolve }: Waiting<Charge, void>): WaitingCharge => ({
    requestId: question.draft.request_id ?? "",
    reject,
    resolve: () => {
      counters.commits++
      resolve()
    }
  })

  return {
    isLost: (): boolean => lost !== undefined,
    /** Whether charges are likely to succeed. */
    isWritable: (): boolean => lost === undefined && trust.now().monotonic - fullAt > diskFullDuration,
    refuseIfLost: (): void => {
      if (lost !== undefined) throw lost
    },
    /** Resolves when the server is a member again, or stops. */
    lose: async (group: CallGroup, cause: unknown): Promise<void> => {
      const error = notWritten(cause)
      lost = error
      counters.failed_groups++
      onLost(error)
      if (wasDiskFull(cause)) fullAt = trust.now().monotonic
      const refused = [
        ...listOtherWaiting(group),
        ...queue.takeUnsent().flatMap((unsent) => [...listOtherWaiting(unsent), ...unsent.charges])
      ]
      for (const { reject } of refused) reject(error)
      deferred.refuseAll(error)
      locked.forgetAll()
      known.forgetAll()
      let since = trust.now()
      const isMember = await membership.rejoin(group.charges.map(toWaitingCharge), (error) => {
        lost = notWritten(error)
        since = trust.now()
      })
      if (!isMember) return
      lost = undefined
      onJoined(since)
    }
  }
}
