/** Calls that wait until another server has returned its lease or slice of their account. */
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { AdmissionOutcome, AdmissionRequest } from "../../rules/admission.ts"
import { accountOfHold, type Waiting } from "./group.ts"

type WaitingCall = Waiting<AdmissionRequest, AdmissionOutcome>

/** Milliseconds between two checks of such an account. Usually a notification of the other server comes first. */
const pollInterval = 25
/** Leases of a dead server expire after five seconds; this is detected within another second. */
const maxWait = 10_000

/** `decideAgain` submits the calls for another decision. */
export const makeDeferredCalls = (decideAgain: (calls: ReadonlyArray<WaitingCall>) => void) => {
  const waiting = new Map<string, Array<WaitingCall>>()
  const retry = (id: string): void => {
    const calls = waiting.get(id)
    if (calls === undefined) return
    waiting.delete(id)
    decideAgain(calls)
  }
  return {
    add: (call: WaitingCall): void => {
      const id = accountOfHold(call)
      if (performance.now() - call.since > maxWait) {
        call.reject(
          toLedgerUnavailable("be written")(`another server has not returned its lease or slice of account ${id}`)
        )
        return
      }
      const others = waiting.get(id)
      if (others !== undefined) {
        others.push(call)
        return
      }
      waiting.set(id, [call])
      setTimeout(() => retry(id), pollInterval).unref()
    },
    /** Call it when the other server may have returned the account's lease or slice. */
    retry,
    rejectAll: (error: LedgerUnavailable): void => {
      for (const calls of waiting.values()) for (const { reject } of calls) reject(error)
      waiting.clear()
    }
  }
}

export type DeferredCalls = ReturnType<typeof makeDeferredCalls>
