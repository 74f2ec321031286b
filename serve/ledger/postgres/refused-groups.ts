/**
 * Groups that the database refused, of which nothing was written: for a charge whose request id was used before, or because
 * somebody has locked an account. They are taken apart, so that no call suffers for another one.
 */
import { unavailable } from "../errors.ts"
import type { LedgerCounters } from "../ledger.ts"
import { giveBack } from "../machine.ts"
import { wasLockedOut, wasRefused } from "./database.ts"
import type { GiveBacks } from "./give-backs.ts"
import { accountByAccount, accountsOf, askers, type CallGroup, chargeByCharge } from "./group.ts"
import type { GroupQueue } from "./group-queue.ts"
import type { LockedAccounts } from "./locked-accounts.ts"

export const refusedGroups = (options: {
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly locked: LockedAccounts
  readonly back: GiveBacks
  /** Hears of an account that somebody has locked. */
  readonly onLocked: (accountId: string) => void
}) => {
  const { back, counters, locked, onLocked, queue } = options

  const takeApart = (group: CallGroup, parts: ReadonlyArray<CallGroup>, cause: unknown) => {
    const isSuspect = (part: CallGroup) => Number(locked.isSuspect(accountOf(part)))
    if (parts.length > 1) queue.sendApart(parts.toSorted((a, b) => isSuspect(a) - isSuspect(b)))
    else if (wasLockedOut(cause) && locked.mayTryAgain(accountOf(group))) sendAgain(group)
    else giveUp(group, cause)
  }

  /** Of a group with calls of one account. */
  const accountOf = (group: CallGroup): string => accountsOf(group)[0] ?? ""

  /** With what has come meanwhile. */
  const sendAgain = ({ charges, returned, holds }: CallGroup) => {
    const next = queue.open()
    next.charges.unshift(...charges)
    next.holds.unshift(...holds)
    for (const id of returned) next.returned.add(id)
  }

  /** Its calls cost nothing, and hold nothing any more. */
  const giveUp = (group: CallGroup, cause: unknown) => {
    const { charges, returned, released } = group
    counters.failed_groups++
    const error = unavailable("be written")(cause)
    const accountId = accountOf(group)
    locked.forget(accountId)
    if (wasLockedOut(cause)) {
      locked.lockOut(accountId)
      onLocked(accountId)
    }
    for (const { question } of charges) {
      giveBack(question.hold)
      back.giveHold(question.hold)
    }
    for (const id of released) queue.open().released.add(id)
    back.giveLater(returned)
    for (const { reject } of askers(group)) reject(error)
    for (const { question, reject } of charges) {
      const { request_id } = question.draft
      reject(wasLockedOut(cause) ? error : new Error(`request ${request_id} was not charged: ${error.message}`))
    }
  }

  return {
    /** True where the group was refused. Else nobody knows what has become of it. */
    handle: (group: CallGroup, cause: unknown): boolean => {
      const concernsAccounts = accountsOf(group).length > 0 // else a whole table is locked
      if (wasLockedOut(cause) && concernsAccounts) takeApart(group, accountByAccount(group), cause)
      else if (wasRefused(cause) && group.charges.length > 0) takeApart(group, chargeByCharge(group), cause)
      else return false
      return true
    }
  }
}
