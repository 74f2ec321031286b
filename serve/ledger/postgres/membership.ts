/**
 * The name under which the database knows this server. What the server holds is held under it, and ends with it.
 *
 * When a group gets no answer nobody knows whether it was written. The server then joins anew, under another name: that
 * ends whatever is still under way for the old one, and tells which calls were charged. A call that cannot wait so long is
 * answered with an error; should it turn out to be charged, it gets a refund.
 */
import { randomText } from "../../access/random-text.ts"
import { LedgerUnavailable } from "../errors.ts"
import type { GroupStatements } from "./database.ts"

export interface Membership {
  readonly id: string
}

/** A call that waits for its charge. */
export interface WaitingCharge {
  readonly requestId: string
  readonly resolve: () => void
  readonly reject: (error: LedgerUnavailable) => void
}

const longestWait = 5_000
const betweenAttempts = 250

const newMembership = (): Membership => ({ id: randomText(20) })
const notCharged = new LedgerUnavailable({
  action: "be written",
  cause: "the connection was lost, and nothing was charged"
})

export const joinServers = async (statements: GroupStatements) => {
  let current = newMembership()
  await statements.join(current.id, current.id, [], [])
  let waiting: Array<WaitingCharge & { readonly since: number }> = []
  /** Request ids of calls that were answered with an error while their charge was in doubt. */
  let answered: Array<string> = []
  let isLeaving = false

  const answerTheOldest = () => {
    const isOld = ({ since }: { readonly since: number }) => performance.now() - since > longestWait
    for (const { reject, requestId } of waiting.filter(isOld)) {
      answered.push(requestId)
      reject(notCharged)
    }
    waiting = waiting.filter((call) => !isOld(call))
  }

  const joinAnew = async () => {
    const next = newMembership()
    const ids = waiting.map(({ requestId }) => requestId)
    const charged = new Set(await statements.join(next.id, current.id, ids, answered))
    current = next
    for (const { reject, requestId, resolve } of waiting) {
      if (charged.has(requestId)) resolve()
      else reject(notCharged)
    }
    waiting = []
    answered = []
  }

  return {
    current: () => current,
    /** Returns when the server is a member again, or leaves. `onFailure` hears why an attempt failed. */
    rejoin: async (inDoubt: ReadonlyArray<WaitingCharge>, onFailure: (error: unknown) => void) => {
      const since = performance.now()
      waiting.push(...inDoubt.map((call) => ({ ...call, since })))
      while (!isLeaving) {
        try {
          return await joinAnew()
        } catch (error) {
          onFailure(error)
        }
        answerTheOldest()
        await new Promise((resolve) => setTimeout(resolve, betweenAttempts))
      }
      for (const { reject } of waiting) reject(notCharged)
    },
    leave: async () => {
      isLeaving = true
      await statements.leave(current.id)
    }
  }
}
