/** Request ids of the latest charges. Ids are unique by their making; this finds a bug before it charges a call twice. */

/** Of each half: under a second of the fastest traffic, an hour of the usual one. */
const remembered = 10_000

export interface ChargedRequests {
  /** Remembers the id. False where it has been seen already. */
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
