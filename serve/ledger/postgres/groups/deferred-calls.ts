/** Calls of accounts that another server decides now. They wait until that server has returned its lease or slice. */
import { type LedgerUnavailable, toLedgerUnavailable } from "../../errors.ts"
import type { AdmissionOutcome, AdmissionRequest } from "../../rules/admission.ts"
import { accountOfHold, type Waiting } from "./group.ts"

type WaitingCall = Waiting<AdmissionRequest, AdmissionOutcome>

/** Milliseconds between two checks of such an account. Usually the other server announces the return first. */
const pollInterval = 25
/** A dead server keeps its leases for five seconds, and it takes up to another second until a server notices. */
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
        call.reject(toLedgerUnavailable("be written")(`another server does not return account ${id}`))
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
    /** Called when the account may be free. */
    retry,
    refuseAll: (error: LedgerUnavailable): void => {
      for (const calls of waiting.values()) for (const { reject } of calls) reject(error)
      waiting.clear()
    }
  }
}

export type DeferredCalls = ReturnType<typeof makeDeferredCalls>
