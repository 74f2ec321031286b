/** What the callers of a run have seen: it is held against the ledger. */
import type { Reply } from "../support/api/check-response.ts"
import type { Call } from "./cast.ts"

/** The body of every 503. */
const sorry = '{"error":{"type":"internal","message":"An unexpected error occurred"}}'

export const startDiary = () => {
  /** Calls that were answered with a whole 200, by their X-Request-Id. */
  const paid = new Map<string, Call>()
  /** Calls without an answer since the last check: each may have been charged. */
  const inDoubt: Array<Call> = []
  /** Calls that were answered with 503. */
  const unavailable: Array<Call> = []
  const surprises: Array<string> = []
  const statuses: Record<string, number> = {}
  let isOut = false

  const wrongWith = (call: Call, { headers, status, text }: Reply): string | undefined => {
    if (status === 503 && isOut) {
      return text === sorry && headers["retry-after"] === "1" ? undefined : `a 503 has the body ${text}`
    }
    if (!call.statuses.includes(status)) return `${call.target} was answered with ${status}: ${text}`
    const charged = status === 200 ? call.credits : 0
    return headers["x-credits-charged"] === String(charged) ? undefined : `a ${status} says that it cost something else`
  }

  return {
    paid,
    inDoubt,
    unavailable,
    /** What should not have happened: not charged wrongly, but answered wrongly. */
    surprises,
    statuses,
    /** Whether the ledger may be away: only then may a call be answered with 503. */
    outage: (begins: boolean) => {
      isOut = begins
    },
    answered: (call: Call, reply: Reply) => {
      const requestId = String(reply.headers["x-request-id"])
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
      const problem = paid.has(requestId) ? `${requestId} answers two calls` : wrongWith(call, reply)
      if (problem !== undefined) surprises.push(problem)
      if (reply.status === 503) unavailable.push(call)
      if (reply.status === 200) paid.set(requestId, call)
    }
  }
}

export type Diary = ReturnType<typeof startDiary>
