/** Callers of one server: keep-alive connections, one call after the other on each, until they are stopped. */
import { Agent } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { send } from "../support/api/client.ts"
import type { Call } from "./actors.ts"
import type { Observations } from "./observations.ts"

const connections = 64
/** Milliseconds that a caller waits after a 503. Its `Retry-After` is a second, which would take too long here. */
const pause = 250
/** Milliseconds. A call that takes longer counts as hanging. */
const maxResponseTime = 30_000

export interface Callers {
  /** Resolves when each connection has had a response. */
  readonly allStarted: Promise<unknown>
  /** The number of calls in flight. */
  readonly countInFlight: () => number
  /** Called before the server is killed: no more calls begin, and calls without a response are in doubt. */
  readonly giveUp: () => void
  /**
   * Allows calls without a response from now on, which must not be charged: those whose connection the server refuses, or
   * also those on a connection that it closes.
   */
  readonly tolerate: (loss: "refused connections" | "closed connections") => void
  /** Stops the callers, and resolves when each call has a response or has failed. */
  readonly end: () => Promise<void>
}

export const startCallers = (api: string, draw: () => Call, observations: Observations): Callers => {
  // each caller has its own connection: a shared one may be idle until the server closes it, just when it is used again
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  let inFlight = 0
  let isCalling = true
  let isLost = false
  const tolerated = new Set<unknown>()

  const sendCall = async (agent: Agent, call: Call): Promise<"success" | "unavailable" | "no response"> => {
    inFlight++
    try {
      const reply = await send(agent, api, call.target, { key: call.key.key })
      observations.addReply(call, reply)
      return reply.status === 503 ? "unavailable" : "success"
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? cause.code : undefined
      if (isLost) observations.inDoubt.push(call)
      else if (!tolerated.has(code)) observations.problems.push(`${call.target} got no response: ${cause}`)
      return "no response"
    } finally {
      inFlight--
    }
  }
  const runCaller = async (agent: Agent, onResponse: () => void) => {
    while (isCalling) {
      const outcome = await sendCall(agent, draw())
      onResponse()
      if (outcome === "unavailable") await sleep(pause)
      if (outcome === "no response") return
    }
  }
  const connected = agents.map((agent) => ({ agent, ...Promise.withResolvers<void>() }))
  const allEnded = Promise.all(connected.map(({ agent, resolve }) => runCaller(agent, resolve)))

  return {
    allStarted: Promise.all(connected.map(({ promise }) => promise)),
    countInFlight: () => inFlight,
    giveUp: () => {
      isCalling = false
      isLost = true
    },
    tolerate: (loss) => {
      tolerated.add("ECONNREFUSED")
      if (loss === "closed connections") tolerated.add("ECONNRESET")
    },
    end: async () => {
      isCalling = false
      const timer = new AbortController()
      const timeout = sleep(maxResponseTime, true, { signal: timer.signal }).catch(() => false)
      const isLate = await Promise.race([allEnded.then(() => false), timeout])
      timer.abort()
      for (const agent of agents) agent.destroy()
      if (isLate) throw new Error(`${inFlight} calls have no response after ${maxResponseTime} ms`)
    }
  }
}
