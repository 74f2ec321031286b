/**
 * What happens to the calls of a group whose transaction has failed. A call has five seconds, from the end of its read to
 * its outcome; then no group is sent for it any more, and it is answered with 503. A transaction that has begun is
 * completed. A charge whose caller has disconnected is withdrawn in the same way, and costs nothing.
 *
 * | Failure | Calls of the group |
 * | --- | --- |
 * | deadlock, serialisation failure | decided again from rows that are read again, at most five times (`group-writer.ts`); then 503 |
 * | lock not available | sent again in halves of its accounts and then account by account, so that only those of the locked account wait; it becomes a suspect, which is sent alone and last, until the time of its calls is over and they get 503; new calls then get 503 at once for five seconds |
 * | lock not available when the group is written, and a probe fails, too | a table is locked: the same as a lost connection |
 * | constraint | sent again in halves; one call alone fails with 500 |
 * | disk or memory full | 503; the server is not ready for a second |
 * | connection lost before COMMIT was sent | sent again at once on a new connection; if that is lost, too, the database counts as lost, and they are sent when it is back |
 * | connection lost after it | the same: the next transaction locks the same accounts, so the lost one has ended, and finds which calls it has charged. A call whose time is over before goes to the in-doubt file, and is refunded if it was charged |
 * | anything else, such as a wrong statement | 500 at once, logged. If COMMIT was sent and not answered, 503, and the calls go to the in-doubt file |
 *
 * Undecided calls have read nothing yet: if the database is lost, those of the group get 503 at once, like new ones.
 */
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { LedgerCounters } from "../../ledger.ts"
import type { OwnHolds } from "../calls/own-holds.ts"
import type { InDoubtCall, InDoubtFiles } from "../in-doubt/in-doubt-files.ts"
import { maxWait } from "../sql/database.ts"
import { classifyFailure, databaseCause } from "../sql/failures.ts"
import {
  accountsOf,
  type CallGroup,
  type Charge,
  type GroupQueue,
  isWithdrawn,
  newGroup,
  removeOver,
  sinceOf,
  splitByAccount,
  splitInHalves
} from "./group.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Outage } from "./outage.ts"

const notWritten = (cause: unknown) => toLedgerUnavailable("be written")(databaseCause(cause))

const noResponse = notWritten("it did not respond within five seconds")

export interface FailureListener {
  /** Another session has locked an account. */
  readonly locked: (accountId: string) => void
  readonly failed: (cause: unknown) => void
  /** The server stops, and these calls, which may have been charged, could not be stored. */
  readonly notStored: (calls: ReadonlyArray<InDoubtCall>, cause: unknown) => void
}

export const makeFailedGroups = (options: {
  readonly counters: LedgerCounters
  readonly queue: GroupQueue
  readonly own: OwnHolds
  readonly locked: LockedAccounts
  readonly inDoubtFiles: InDoubtFiles
  readonly outage: Outage
  readonly listener: FailureListener
  readonly now: () => number
  readonly isClosing: () => boolean
}) => {
  const { counters, inDoubtFiles, isClosing, listener, locked, now, outage, own, queue } = options
  let isFailureLogged = false

  /** Returns whether they are stored, or the server stops and has logged them instead. */
  const storeInDoubt = (charges: ReadonlyArray<Charge>): boolean => {
    if (charges.length === 0) return true
    const calls = charges.map(({ hold, requestId }) => ({
      request_id: requestId,
      account_id: hold.call.key.account_id
    }))
    try {
      inDoubtFiles.add(calls)
      isFailureLogged = false
      return true
    } catch (cause) {
      if (isClosing()) listener.notStored(calls, cause)
      else if (!isFailureLogged) listener.failed(cause)
      isFailureLogged = true
      return isClosing()
    }
  }

  /**
   * Ends the holds of the calls, and rejects the calls. Returns charges in doubt that could not be stored: they wait until
   * they are, until the database says whether they were charged, or until the server stops.
   */
  const reject = ({ charges, undecided }: CallGroup, error: Error): Array<Charge> => {
    for (const { reject } of undecided) reject(error)
    const running = charges.filter(({ hold }) => hold.stage !== "ended")
    const inDoubt = running.filter(({ isInDoubt }) => isInDoubt)
    const isStored = storeInDoubt(inDoubt)
    for (const charge of running) {
      if (charge.isInDoubt && !isStored) continue
      own.end(charge.hold, "released")
      const refunded = "the database did not respond; if the call was charged, it is refunded"
      if (isWithdrawn(charge)) charge.reject(charge.signal?.reason)
      else charge.reject(charge.isInDoubt ? notWritten(refunded) : error)
    }
    return isStored ? [] : inDoubt
  }

  const fail = (group: CallGroup, error: Error): void => queue.putBack({ ...newGroup(), charges: reject(group, error) })

  const failUnexpected = (group: CallGroup, cause: unknown): void => {
    if (classifyFailure(cause) !== "refused") listener.failed(cause)
    fail(group, new Error(`nothing was charged: ${notWritten(cause).message}`, { cause }))
  }

  const lockOut = (accountId: string) => {
    locked.lockOut(accountId)
    listener.locked(accountId)
  }

  /** For calls that are over: their time, unless they are withdrawn. New calls of a suspect would wait in vain, too. */
  const rejectOver = (group: CallGroup, error: LedgerUnavailable): Array<Charge> => {
    const late = { ...group, charges: group.charges.filter((charge) => !isWithdrawn(charge)) }
    for (const id of accountsOf(late)) if (locked.isSuspect(id)) lockOut(id)
    return reject(group, error)
  }

  const failExpired = (): void => {
    const cause = outage.cause()
    const isOver = isClosing() && cause !== undefined
    const over = queue.takeOver(isOver ? Number.POSITIVE_INFINITY : now() - maxWait)
    queue.putBack({ ...newGroup(), charges: rejectOver(over, cause ?? noResponse) })
  }

  const handleLocked = (group: CallGroup, cause: unknown): ReadonlyArray<CallGroup> => {
    const parts = splitByAccount(group)
    if (parts.length > 1) return parts
    const [accountId = ""] = accountsOf(group)
    locked.suspect(accountId)
    if (now() - sinceOf(group) < maxWait) {
      queue.putBack(group)
      return []
    }
    counters.failed_groups++
    fail(group, notWritten(cause))
    lockOut(accountId)
    return []
  }

  const handleLost = (group: CallGroup, cause: unknown) => {
    counters.failed_groups++
    const error = notWritten(cause)
    for (const { reject } of group.undecided.splice(0)) reject(error)
    queue.putBack(group)
    outage.report(error)
  }

  return {
    /** Returns the groups that have to be sent now. */
    handle: (group: CallGroup, cause: unknown): ReadonlyArray<CallGroup> => {
      const failure = classifyFailure(cause)
      const isLost = failure === "lost" || (failure === "locked" && outage.isLost())
      if (failure === "locked" && !isLost) return handleLocked(group, cause)
      if (failure === "refused" && group.charges.length + group.undecided.length > 1) return splitInHalves(group)
      if (isLost) {
        handleLost(group, cause)
        return []
      }
      counters.failed_groups++
      if (failure === "full") outage.reportFull(notWritten(cause))
      if (failure === "full" || failure === "rolled back") fail(group, notWritten(cause))
      else failUnexpected(group, cause)
      return []
    },
    failUnexpected,
    /** Rejects waiting calls that are over; all of them if the server stops during an outage. */
    failExpired,
    /** Rejects such calls of a group before it is sent. */
    removeOver: (group: CallGroup): void => {
      group.charges.push(...rejectOver(removeOver(group, now() - maxWait), noResponse))
    }
  }
}
