/** Callers of one server: keep-alive connections, one call after the other on each, until they are told to stop. */
import { Agent } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { send } from "../support/api/client.ts"
import type { Call } from "./cast.ts"
import type { Diary } from "./diary.ts"

const connections = 64
/** What a caller waits after a 503. It is told a second; a run has less patience. */
const pause = 250
/** A call that takes longer hangs. */
const longestAnswer = 30_000

export interface Callers {
  /** Resolves when each connection has had an answer. */
  readonly underWay: Promise<unknown>
  /** How many calls wait for their answer. */
  readonly waiting: () => number
  /** Says that the server is about to be killed: nobody calls any more, and whatever breaks off now is in doubt. */
  readonly giveUp: () => void
  /**
   * Says which calls may stay without an answer from now on, and are not charged: those for which the server takes no
   * connection any more, or also those that were on their way on a connection that it has closed.
   */
  readonly tolerate: (loss: "refused connections" | "closed connections") => void
  /** Ends the calling, and resolves when each call has its answer or has broken off. */
  readonly end: () => Promise<void>
}

export const startCallers = (api: string, draw: () => Call, diary: Diary): Callers => {
  // one connection a caller: what callers share may lie idle until the server closes it, just when it is used again
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  let waiting = 0
  let isCalling = true
  let isLost = false
  const tolerated = new Set<unknown>()

  const ask = async (agent: Agent, call: Call): Promise<"answered" | "refused" | "no answer"> => {
    waiting++
    try {
      const reply = await send(agent, api, call.target, { key: call.key.key })
      diary.answered(call, reply)
      return reply.status === 503 ? "refused" : "answered"
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? cause.code : undefined
      if (isLost) diary.inDoubt.push(call)
      else if (!tolerated.has(code)) diary.surprises.push(`${call.target} got no answer: ${cause}`)
      return "no answer"
    } finally {
      waiting--
    }
  }
  const caller = async (agent: Agent, hasAnswer: () => void) => {
    while (isCalling) {
      const outcome = await ask(agent, draw())
      hasAnswer()
      if (outcome === "refused") await sleep(pause)
      if (outcome === "no answer") return
    }
  }
  const connected = agents.map((agent) => ({ agent, ...Promise.withResolvers<void>() }))
  const all = Promise.all(connected.map(({ agent, resolve }) => caller(agent, resolve)))

  return {
    underWay: Promise.all(connected.map(({ promise }) => promise)),
    waiting: () => waiting,
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
      const late = sleep(longestAnswer, true, { signal: timer.signal }).catch(() => false)
      const isLate = await Promise.race([all.then(() => false), late])
      timer.abort()
      for (const agent of agents) agent.destroy()
      if (isLate) throw new Error(`${waiting} calls have no answer after ${longestAnswer} ms`)
    }
  }
}
