/**
 * Calls that a notification can cancel. Over HTTP, the notification arrives in a separate request, so calls are
 * identified by key, session and JSON-RPC id. A session is a label that a client gets with `initialize` and sends with
 * later requests; servers store nothing about it, and accept any label. A notification that reaches a different
 * server from its call has no effect; closing the stream always cancels the call.
 */
import type { RequestId } from "@modelcontextprotocol/server"

/** A call of one client. */
interface ClientCall {
  readonly keyId: string
  /** Undefined for clients that send none: only closing the stream cancels their calls. */
  readonly session: string | undefined
  readonly id: RequestId
}

export const makeCancellations = () => {
  const controllers = new Map<string, AbortController>()
  const nameCall = ({ id, keyId, session }: ClientCall) =>
    session === undefined ? undefined : JSON.stringify([keyId, session, id])

  return {
    /** Runs a call with a signal that also fires when a notification cancels the call. */
    run: async <A>(call: ClientCall, signal: AbortSignal, work: (signal: AbortSignal) => Promise<A>): Promise<A> => {
      const name = nameCall(call)
      if (name === undefined) return work(signal)
      const controller = new AbortController()
      controllers.set(name, controller)
      try {
        return await work(AbortSignal.any([signal, controller.signal]))
      } finally {
        if (controllers.get(name) === controller) controllers.delete(name)
      }
    },
    cancel: (call: ClientCall) => {
      const name = nameCall(call)
      if (name !== undefined) controllers.get(name)?.abort()
    }
  }
}
