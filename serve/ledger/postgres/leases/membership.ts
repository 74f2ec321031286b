/**
 * A server registers with the database under a name, to which its holds belong. If the outcome of a group is unknown, the
 * server joins again under another name: that ends everything still in flight for the old name, and shows which calls
 * were charged. A call that cannot wait that long fails, and its request id is stored: if it turns out to be charged, it
 * gets a refund (`in-doubt-calls.ts`).
 */
import { LedgerUnavailable } from "../../errors.ts"
import { randomString } from "../../random-string.ts"
import type { ServerStatements } from "../sql/statements.ts"
import type { InDoubtFiles } from "./in-doubt-calls.ts"

export interface ServerName {
  readonly id: string
}

export interface WaitingCharge {
  readonly requestId: string
  readonly resolve: () => void
  readonly reject: (error: LedgerUnavailable) => void
}

const maxWait = 5_000
const retryInterval = 250

const makeName = (): ServerName => ({ id: randomString(20) })
const notWritten = (cause: string) => new LedgerUnavailable({ action: "be written", cause })

export const registerServer = async (statements: ServerStatements, inDoubtFiles: InDoubtFiles) => {
  let current = makeName()
  let waiting: Array<WaitingCharge & { readonly since: number }> = []
  let isStopping = false

  /** Rejects calls that have waited long enough, even if they were charged. */
  const rejectWaiting = (isExpired: (call: { readonly since: number }) => boolean) => {
    const expired = waiting.filter(isExpired)
    if (expired.length === 0) return
    inDoubtFiles.add(
      current.id,
      expired.map(({ requestId }) => requestId)
    )
    waiting = waiting.filter((call) => !expired.includes(call))
    const error = notWritten("the database did not respond; if the call was charged, it is refunded")
    for (const { reject } of expired) reject(error)
  }

  const joinAgain = async () => {
    const next = makeName()
    const calls = waiting
    const ids = calls.map(({ requestId }) => requestId)
    const charged = await statements.join(next.id, current.id, ids)
    current = next
    waiting = []
    for (const { reject, requestId, resolve } of calls) {
      if (charged.has(requestId)) resolve()
      else reject(notWritten("nothing was charged"))
    }
  }

  await statements.join(current.id, current.id, [])

  return {
    current: () => current,
    /** True when the server is a member again, false when it stops. `onFailure` receives each attempt's error. */
    rejoin: async (inDoubt: ReadonlyArray<WaitingCharge>, onFailure: (error: unknown) => void): Promise<boolean> => {
      const since = performance.now()
      waiting.push(...inDoubt.map((call) => ({ ...call, since })))
      for (;;) {
        try {
          await joinAgain()
          return true
        } catch (error) {
          onFailure(error)
        }
        try {
          rejectWaiting(({ since }) => isStopping || performance.now() - since > maxWait)
        } catch (error) {
          onFailure(error) // these calls could not be stored, so they keep waiting
        }
        if (isStopping) return false
        await new Promise((resolve) => setTimeout(resolve, retryInterval))
      }
    },
    stopTrying: () => {
      isStopping = true
    },
    leave: () => statements.leave(current.id)
  }
}

export type Membership = Awaited<ReturnType<typeof registerServer>>
