/**
 * What happens to the calls of a group whose transaction has failed. A call has five seconds, from the end of its read to
 * its outcome; then no group is sent for it any more, and it is answered with 503. A group that was sent before has five
 * seconds of its own.
 *
 * | Failure | Calls of the group |
 * | --- | --- |
 * | deadlock, serialisation failure | decided again from rows that are read again, at most five times (`group-writer.ts`); then 503 |
 * | lock not available | sent again account by account, so that only those of the locked account wait; it becomes a suspect, which is sent alone and last, until the time of its calls is over and they get 503; new calls then get 503 at once for five seconds |
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
import { classifyFailure, databaseCause } from "../sql/failures.ts"
import {
  accountsOf,
  type CallGroup,
  type Charge,
  type GroupQueue,
  newGroup,
  removeOlder,
  sinceOf,
  splitByAccount,
  splitInHalves
} from "./group.ts"
import type { LockedAccounts } from "./locked-accounts.ts"
import type { Outage } from "./outage.ts"

/** Milliseconds. */
export const maxWait = 5_000

const notWritten = (cause: unknown) => toLedgerUnavailable("be written")(databaseCause(cause))

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
      own.end(charge.hold, false)
      const refunded = "the database did not respond; if the call was charged, it is refunded"
      charge.reject(charge.isInDoubt ? notWritten(refunded) : error)
    }
    return isStored ? [] : inDoubt
  }

  const fail = (group: CallGroup, error: Error): void => queue.putBack({ ...newGroup(), charges: reject(group, error) })

  const failUnexpected = (group: CallGroup, cause: unknown): void => {
    if (classifyFailure(cause) !== "refused") listener.failed(cause)
    fail(group, new Error(`nothing was charged: ${notWritten(cause).message}`, { cause }))
  }

  const failExpired = (isOver: boolean, error: LedgerUnavailable) =>
    fail(queue.takeOlder(isOver ? Number.POSITIVE_INFINITY : now() - maxWait), error)

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
    locked.lockOut(accountId)
    listener.locked(accountId)
    failExpired(false, notWritten(cause))
    return []
  }

  const handleLost = (group: CallGroup, cause: unknown) => {
    counters.failed_groups++
    const error = notWritten(cause)
    for (const { reject } of group.undecided.splice(0)) reject(error)
    queue.putBack(group)
    outage.report(error)
    failExpired(false, error) // a database that loses each connection can be reached again each time
  }

  return {
    /** Returns the groups that have to be sent now. */
    handle: (group: CallGroup, cause: unknown): ReadonlyArray<CallGroup> => {
      const failure = classifyFailure(cause)
      if (failure === "locked") return handleLocked(group, cause)
      if (failure === "refused" && group.charges.length + group.undecided.length > 1) return splitInHalves(group)
      if (failure === "lost") {
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
    /** Rejects waiting calls whose time is over; all of them if the server stops. */
    failExpired,
    /** Rejects such calls of a group before it is sent. */
    rejectLate: (group: CallGroup): void => {
      const late = removeOlder(group, now() - maxWait)
      group.charges.push(...reject(late, notWritten("it did not respond within five seconds")))
    }
  }
}
