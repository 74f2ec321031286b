/**
 * Groups: what a server has collected for the database, and the promises that wait for it. Groups are sent one at a
 * time; requests that arrive in between go into the next group. The parts of a split group are sent first.
 */
import type { Draft } from "../../chain/chain.ts"
import type { AdmissionOutcome, AdmissionRequest, Hold } from "../../rules/admission.ts"

export interface Charge {
  readonly hold: Hold
  readonly draft: Draft
}

export interface Waiting<Request, Outcome> extends PromiseWithResolvers<Outcome> {
  readonly request: Request
  readonly since: number
}
export const makeWaiting = <Request, Outcome>(request: Request): Waiting<Request, Outcome> => ({
  request,
  since: performance.now(),
  ...Promise.withResolvers<Outcome>()
})

export interface CallGroup {
  readonly charges: Array<Waiting<Charge, void>>
  readonly holds: Array<Waiting<AdmissionRequest, AdmissionOutcome>>
  readonly bySha256: Map<string, Waiting<string, void>>
  readonly byId: Map<string, Waiting<string, void>>
  /** Accounts with holds that have ended on this server, but not in the database. */
  readonly released: Set<string>
  /** Accounts with a lease or slice that ends. */
  readonly returned: Set<string>
  readonly since: number
  /** Reports to the database that the server is alive. */
  isHeartbeat: boolean
}

export const newGroup = (since: number): CallGroup => ({
  charges: [],
  holds: [],
  bySha256: new Map(),
  byId: new Map(),
  released: new Set(),
  returned: new Set(),
  since,
  isHeartbeat: false
})

export const accountOfCharge = ({ request }: Waiting<Charge, void>): string => request.draft.account_id
export const accountOfHold = ({ request }: Waiting<AdmissionRequest, AdmissionOutcome>): string =>
  request.key.account_id

export const accountsOf = ({ charges, holds, returned }: CallGroup): ReadonlyArray<string> => [
  ...new Set([...charges.map(accountOfCharge), ...holds.map(accountOfHold), ...returned])
]

/** All promises that wait for something other than a charge. */
export const listOtherWaiting = ({ byId, bySha256, holds }: CallGroup) => [
  ...bySha256.values(),
  ...byId.values(),
  ...holds
]

const isEmpty = ({ isHeartbeat, byId, bySha256, charges, holds, released, returned }: CallGroup) =>
  !isHeartbeat && charges.length + holds.length + bySha256.size + byId.size + released.size + returned.size === 0
const appendRest = (parts: Array<CallGroup>, rest: CallGroup) => (isEmpty(rest) ? parts : [...parts, rest])

export const splitByCharge = (group: CallGroup): ReadonlyArray<CallGroup> =>
  appendRest(
    group.charges.map((charge) => ({ ...newGroup(group.since), charges: [charge] })),
    { ...group, charges: [] }
  )

/** Returns one group for each account, and one more for everything that concerns no account. */
export const splitByAccount = ({ charges, holds, returned, since, ...rest }: CallGroup): ReadonlyArray<CallGroup> => {
  const parts = new Map<string, CallGroup>()
  const getPart = (accountId: string) => {
    const part = parts.get(accountId) ?? newGroup(since)
    parts.set(accountId, part)
    return part
  }
  for (const charge of charges) getPart(accountOfCharge(charge)).charges.push(charge)
  for (const hold of holds) getPart(accountOfHold(hold)).holds.push(hold)
  for (const id of returned) getPart(id).returned.add(id)
  return appendRest([...parts.values()], { ...rest, since, charges: [], holds: [], returned: new Set() })
}

/**
 * Milliseconds that a group waits for the charges of held calls, if several servers have calls of their account. Those
 * servers write one after the other, so larger groups are better.
 */
const gatherDelay = 2

export const makeGroupQueue = (options: {
  /** Never rejects. */
  readonly send: (group: CallGroup) => Promise<void>
  readonly expectsCharges: () => boolean
}) => {
  let next: CallGroup | undefined
  let sending: Promise<void> | undefined
  let parts: Array<CallGroup> = []

  const sendSoon = () => {
    if (options.expectsCharges()) setTimeout(sendNext, gatherDelay)
    else setImmediate(sendNext)
  }
  const sendNext = () => {
    const group = next
    if (group === undefined) return
    next = undefined
    sending = sendWithParts(group).then(() => {
      sending = undefined
      if (next !== undefined) sendSoon()
    })
  }
  const sendWithParts = async (group: CallGroup) => {
    for (let part: CallGroup | undefined = group; part !== undefined; part = parts.shift()) await options.send(part)
  }

  return {
    /** The next group. */
    open: (): CallGroup => {
      if (next !== undefined) return next
      if (sending === undefined) sendSoon()
      next = newGroup(performance.now())
      return next
    },
    /** The next group, if it already exists. */
    collected: (): CallGroup | undefined => next,
    /** Sends these groups before the next one. */
    sendFirst: (groups: ReadonlyArray<CallGroup>): void => {
      parts.unshift(...groups)
    },
    /** Removes and returns the groups that were not sent. */
    takeUnsent: (): ReadonlyArray<CallGroup> => {
      const unsent = next === undefined ? parts : [...parts, next]
      next = undefined
      parts = []
      return unsent
    },
    waitUntilEmpty: async (): Promise<void> => {
      while (next !== undefined || sending !== undefined) {
        await (sending ?? new Promise((resolve) => setImmediate(resolve)))
      }
    }
  }
}

export type GroupQueue = ReturnType<typeof makeGroupQueue>
