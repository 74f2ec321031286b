/**
 * Groups that the database refused completely: a request id was used before, or another session has locked an account.
 * They are split, so that no call fails because of another one.
 */
import { toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import { releaseCharging } from "../../rules/admission.ts"
import { wasLockedOut, wasRefused } from "../sql/database.ts"
import { accountsOf, type CallGroup, listOtherWaiting, splitByAccount, splitByCharge } from "./group.ts"
import type { GroupQueue } from "./group-queue.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Returns } from "./returns.ts"

export const makeRefusedGroups = (options: {
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly locked: LockedAccounts
  readonly back: Returns
  /** Receives the id of an account that another session has locked. */
  readonly onLocked: (accountId: string) => void
}) => {
  const { back, counters, locked, onLocked, queue } = options

  const splitGroup = (group: CallGroup, parts: ReadonlyArray<CallGroup>, cause: unknown) => {
    const isSuspect = (part: CallGroup) => Number(locked.isSuspect(accountOf(part)))
    if (parts.length > 1) queue.sendFirst(parts.toSorted((a, b) => isSuspect(a) - isSuspect(b)))
    else if (wasLockedOut(cause) && locked.recordTimeout(accountOf(group))) sendAgain(group)
    else giveUp(group, cause)
  }

  /** For a group with calls of one account. */
  const accountOf = (group: CallGroup): string => accountsOf(group)[0] ?? ""

  /** Adds the group to the one that is being collected. */
  const sendAgain = ({ charges, returned, holds }: CallGroup) => {
    const next = queue.open()
    next.charges.unshift(...charges)
    next.holds.unshift(...holds)
    for (const id of returned) next.returned.add(id)
  }

  /** Its calls are not charged, and their holds end. */
  const giveUp = (group: CallGroup, cause: unknown) => {
    const { charges, returned, released } = group
    counters.failed_groups++
    const error = toLedgerUnavailable("be written")(cause)
    const accountId = accountOf(group)
    locked.forget(accountId)
    if (wasLockedOut(cause)) {
      locked.lockOut(accountId)
      onLocked(accountId)
    }
    for (const { question } of charges) {
      releaseCharging(question.hold)
      back.returnHold(question.hold)
    }
    for (const id of released) queue.open().released.add(id)
    back.returnLater(returned)
    for (const { reject } of listOtherWaiting(group)) reject(error)
    for (const { question, reject } of charges) {
      const { request_id } = question.draft
      reject(wasLockedOut(cause) ? error : new Error(`request ${request_id} was not charged: ${error.message}`))
    }
  }

  return {
    /** True if the group was refused. Otherwise it is unknown whether it was written. */
    handle: (group: CallGroup, cause: unknown): boolean => {
      const concernsAccounts = accountsOf(group).length > 0 // if not, a whole table is locked
      if (wasLockedOut(cause) && concernsAccounts) splitGroup(group, splitByAccount(group), cause)
      else if (wasRefused(cause) && group.charges.length > 0) splitGroup(group, splitByCharge(group), cause)
      else return false
      return true
    }
  }
}
