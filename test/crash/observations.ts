/** What the callers of a run have observed, to compare with the ledger. */
import type { Reply } from "../support/api/check-response.ts"
import type { Call } from "./actors.ts"

/** The body of every 503. */
const unavailableBody = '{"error":{"type":"internal","message":"An unexpected error occurred"}}'

export const recordObservations = () => {
  /** Calls with a complete 200, by their X-Request-Id. */
  const paid = new Map<string, Call>()
  /** Calls without a response since the last check: each may have been charged. */
  const inDoubt: Array<Call> = []
  /** Calls with a 503. */
  const unavailable: Array<Call> = []
  const problems: Array<string> = []
  const statuses: Record<string, number> = {}
  let isOutage = false

  const findProblem = (call: Call, { headers, status, text }: Reply): string | undefined => {
    if (status === 503 && isOutage) {
      return text === unavailableBody && headers["retry-after"] === "1" ? undefined : `a 503 has the body ${text}`
    }
    if (!call.statuses.includes(status)) return `${call.target} returned ${status}: ${text}`
    const charged = status === 200 ? call.credits : 0
    return headers["x-credits-charged"] === String(charged) ? undefined : `a ${status} has the wrong x-credits-charged`
  }

  return {
    paid,
    inDoubt,
    unavailable,
    /** Wrong responses. */
    problems,
    statuses,
    /** Sets whether the ledger may be unavailable: a call may return 503 only while it is. */
    setOutage: (hasBegun: boolean) => {
      isOutage = hasBegun
    },
    addReply: (call: Call, reply: Reply) => {
      const requestId = String(reply.headers["x-request-id"])
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
      const problem = paid.has(requestId) ? `two calls have the request id ${requestId}` : findProblem(call, reply)
      if (problem !== undefined) problems.push(problem)
      if (reply.status === 503) unavailable.push(call)
      if (reply.status === 200) paid.set(requestId, call)
    }
  }
}

export type Observations = ReturnType<typeof recordObservations>
