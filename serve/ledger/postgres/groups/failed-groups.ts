/**
 * Groups that failed. If the database has refused a group completely, because a request id was used before or another
 * session has locked an account, the group is split, so that no call fails because of another one. If the outcome is
 * unknown, everything that waits is rejected, except the charges of the group: they are in doubt until the server has
 * joined again under another name.
 */
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import { releaseCharging } from "../../rules/admission.ts"
import type { KnownAccounts } from "../leases/known-accounts.ts"
import type { ClockReadings, LeaseTrust } from "../leases/lease-rules.ts"
import type { Membership, WaitingCharge } from "../leases/membership.ts"
import { wasDiskFull, wasLockedOut, wasRefused } from "../sql/database.ts"
import type { DeferredCalls } from "./deferred-calls.ts"
import {
  accountsOf,
  type CallGroup,
  type Charge,
  type GroupQueue,
  listOtherWaiting,
  splitByAccount,
  splitByCharge,
  type Waiting
} from "./group.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Returns } from "./returns.ts"

const notWritten = toLedgerUnavailable("be written")

/** Milliseconds. With a full disk, the server can join again, but the next charge is refused, many times a second. */
const diskFullDuration = 1_000

/** For a group with calls of one account. */
const accountOf = (group: CallGroup): string => accountsOf(group)[0] ?? ""

export const makeFailedGroups = (options: {
  readonly membership: Membership
  readonly known: KnownAccounts
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly locked: LockedAccounts
  readonly deferred: DeferredCalls
  readonly returns: Returns
  readonly trust: LeaseTrust
  /** Receives the id of an account that another session has locked. */
  readonly onLocked: (accountId: string) => void
  readonly onLost: (cause: LedgerUnavailable) => void
  /** The server is a member again. The attempt that succeeded began at `since`. */
  readonly onJoined: (since: ClockReadings) => void
}) => {
  const { counters, deferred, known, locked, membership, onJoined, onLocked, onLost, queue, returns, trust } = options
  let lost: LedgerUnavailable | undefined
  /** When a full disk was last reported. */
  let diskFullAt = Number.NEGATIVE_INFINITY

  const splitGroup = (group: CallGroup, parts: ReadonlyArray<CallGroup>, cause: unknown) => {
    const isSuspect = (part: CallGroup) => Number(locked.isSuspect(accountOf(part)))
    if (parts.length > 1) queue.sendFirst(parts.toSorted((a, b) => isSuspect(a) - isSuspect(b)))
    else if (wasLockedOut(cause) && locked.recordTimeout(accountOf(group))) sendAgain(group)
    else giveUp(group, cause)
  }

  /** Adds the group to the one that is being collected. */
  const sendAgain = ({ charges, holds, returned }: CallGroup) => {
    const next = queue.open()
    next.charges.unshift(...charges)
    next.holds.unshift(...holds)
    for (const id of returned) next.returned.add(id)
  }

  /** Its calls are not charged, and their holds end. */
  const giveUp = (group: CallGroup, cause: unknown) => {
    const { charges, released, returned } = group
    counters.failed_groups++
    const error = notWritten(cause)
    const accountId = accountOf(group)
    locked.reset(accountId)
    if (wasLockedOut(cause)) {
      locked.lockOut(accountId)
      onLocked(accountId)
    }
    for (const { request } of charges) {
      releaseCharging(request.hold)
      returns.returnHold(request.hold)
    }
    for (const id of released) queue.open().released.add(id)
    returns.returnLater(returned)
    for (const { reject } of listOtherWaiting(group)) reject(error)
    for (const { reject, request } of charges) {
      const { request_id } = request.draft
      reject(wasLockedOut(cause) ? error : new Error(`request ${request_id} was not charged: ${error.message}`))
    }
  }

  const toWaitingCharge = ({ reject, request, resolve }: Waiting<Charge, void>): WaitingCharge => ({
    requestId: request.draft.request_id ?? "",
    reject,
    resolve: () => {
      counters.commits++
      resolve()
    }
  })

  /** Resolves when the server is a member again, or stops. */
  const rejoin = async (group: CallGroup, cause: unknown): Promise<void> => {
    const error = notWritten(cause)
    lost = error
    counters.failed_groups++
    onLost(error)
    if (wasDiskFull(cause)) diskFullAt = trust.now().monotonic
    const rejected = [
      ...listOtherWaiting(group),
      ...queue.takeUnsent().flatMap((unsent) => [...listOtherWaiting(unsent), ...unsent.charges])
    ]
    for (const { reject } of rejected) reject(error)
    deferred.rejectAll(error)
    locked.resetAll()
    known.clear()
    let since = trust.now()
    const isMember = await membership.rejoin(group.charges.map(toWaitingCharge), (error) => {
      lost = notWritten(error)
      since = trust.now()
    })
    if (!isMember) return
    lost = undefined
    onJoined(since)
  }

  return {
    isLost: (): boolean => lost !== undefined,
    /** Whether charges are likely to succeed. */
    isWritable: (): boolean => lost === undefined && trust.now().monotonic - diskFullAt > diskFullDuration,
    refuseIfLost: (): void => {
      if (lost !== undefined) throw lost
    },
    handle: async (group: CallGroup, cause: unknown): Promise<void> => {
      const hasAccounts = accountsOf(group).length > 0 // if not, a whole table is locked
      if (wasLockedOut(cause) && hasAccounts) splitGroup(group, splitByAccount(group), cause)
      else if (wasRefused(cause) && group.charges.length > 0) splitGroup(group, splitByCharge(group), cause)
      else await rejoin(group, cause)
    }
  }
}
