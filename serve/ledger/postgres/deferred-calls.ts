/** Calls of accounts that another server decides, until it has given the lease back. */
import { type LedgerUnavailable, unavailable } from "../errors.ts"
import { accountOfHold, type Call, type Decided, type Waiting } from "./group.ts"

type WaitingCall = Waiting<Call, Decided>

/** Milliseconds between two looks at such an account. The other server says so itself, as a rule. */
const betweenLooks = 25
/** A dead server has its leases for five seconds, and up to a second passes until another server notices. */
const longestWait = 10_000

/** `ask` has them decided once more. */
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
    /** The account may be free. */
    look,
    refuseAll: (error: LedgerUnavailable): void => {
      for (const calls of waiting.values()) for (const { reject } of calls) reject(error)
      waiting.clear()
    }
  }
}

export type DeferredCalls = ReturnType<typeof deferredCalls>
