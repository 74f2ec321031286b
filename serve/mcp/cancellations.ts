/**
 * Calls that may be cancelled by a notification. Over HTTP it comes in a request of its own, so calls are known here by key,
 * session and JSON-RPC id. A session is a label that a client got with `initialize` and sends along; nothing is kept about
 * it, any server takes any. A notification that reaches another server than its call cancels nothing: a closed stream does.
 */
import { randomUUID } from "node:crypto"
import type { RequestId } from "@modelcontextprotocol/server"

export const newSession = (): string => randomUUID()

/** A call of one client. */
export interface ClientCall {
  readonly keyId: string
  /** Undefined for clients that do not say: theirs are cancelled by closing the stream alone. */
  readonly session: string | undefined
  readonly id: RequestId
}

export const makeCancellations = () => {
  const cancel = new Map<string, AbortController>()
  const nameOf = ({ id, keyId, session }: ClientCall) =>
    session === undefined ? undefined : JSON.stringify([keyId, session, id])

  return {
    /** Runs a call under a signal that also fires when it is cancelled. */
    during: async <A>(
      call: ClientCall,
      signal: AbortSignal,
      answer: (signal: AbortSignal) => Promise<A>
    ): Promise<A> => {
      const name = nameOf(call)
      if (name === undefined) return answer(signal)
      const controller = new AbortController()
      cancel.set(name, controller)
      try {
        return await answer(AbortSignal.any([signal, controller.signal]))
      } finally {
        if (cancel.get(name) === controller) cancel.delete(name)
      }
    },
    cancelled: (call: ClientCall) => {
      const name = nameOf(call)
      if (name !== undefined) cancel.get(name)?.abort()
    }
  }
}

export type Cancellations = ReturnType<typeof makeCancellations>
