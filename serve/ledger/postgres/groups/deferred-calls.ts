/** Calls of accounts that another server decides. They wait until that server has returned the lease. */
import { type LedgerUnavailable, unavailable } from "../../errors.ts"
import { type AdmissionAsked, accountOfHold, type Decided, type Waiting } from "./group.ts"

type WaitingCall = Waiting<AdmissionAsked, Decided>

/** Milliseconds between two checks of such an account. Usually the other server announces the return first. */
const betweenLooks = 25
/** A dead server keeps its leases for five seconds, and it takes up to another second until a server notices. */
const longestWait = 10_000

/** `ask` submits the calls for another decision. */
export const deferredCalls = (ask: (calls: ReadonlyArray<WaitingCall>) => void) => {
  const waiting = new Map<string, Array<WaitingCall>>()
  const look = (id: string): void => {
    const calls = waiting.get(id)
    if (calls === undefined) return
    waiting.delete(id)
    ask(calls)
  }
  return {
    add: (call: WaitingCall): void => {
      const id = accountOfHold(call)
      if (performance.now() - call.since > longestWait) {
        call.reject(unavailable("be written")(`another server does not give account ${id} back`))
        return
      }
      const others = waiting.get(id)
      if (others !== undefined) {
        others.push(call)
        return
      }
      waiting.set(id, [call])
      setTimeout(() => look(id), betweenLooks).unref()
    },
    /** To be called when the account may be free. */
    look,
    refuseAll: (error: LedgerUnavailable): void => {
      for (const calls of waiting.values()) for (const { reject } of calls) reject(error)
      waiting.clear()
    }
  }
}

export type DeferredCalls = ReturnType<typeof deferredCalls>
