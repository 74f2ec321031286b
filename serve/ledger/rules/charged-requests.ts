/** Request ids of the latest charges. Ids are unique by design; this catches a bug before it charges a call twice. */

/** Ids per half: less than a second of the fastest traffic, an hour of usual traffic. */
const remembered = 10_000

export interface ChargedRequests {
  /** Remembers the id. Returns false if it was already there. */
  readonly add: (requestId: string) => boolean
}

export const chargedRequests = (): ChargedRequests => {
  let newer = new Set<string>()
  let older = new Set<string>()
  return {
    add: (requestId) => {
      if (newer.has(requestId) || older.has(requestId)) return false
      if (newer.size >= remembered) {
        older = newer
        newer = new Set()
      }
      newer.add(requestId)
      return true
    }
  }
}

export const chargedTwice = (requestId: string) =>
  new Error(`request ${requestId} has been charged already: its id was used twice`)
