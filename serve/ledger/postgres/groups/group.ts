/** A group: what a server has collected for the database, and the promises that wait for it. */
import type { Draft } from "../../chain/chain.ts"
import type { Hold, HoldOutcome } from "../../rules/admission.ts"
import type { ApiKeyView } from "../../rules/ledger-state.ts"

export interface AdmissionRequest {
  readonly key: ApiKeyView
  readonly endpoint: string
  readonly credits: number
  readonly nowMs: number
}

export interface Charge {
  readonly hold: Hold
  readonly draft: Draft
}

export interface Waiting<Question, Answer> extends PromiseWithResolvers<Answer> {
  readonly question: Question
  readonly since: number
}
export const makeWaiting = <Question, Answer>(question: Question): Waiting<Question, Answer> => ({
  question,
  since: performance.now(),
  ...Promise.withResolvers<Answer>()
})

export type AdmissionOutcome = HoldOutcome | { readonly refused: "key_changed" }

export interface CallGroup {
  readonly charges: Array<Waiting<Charge, void>>
  readonly holds: Array<Waiting<AdmissionRequest, AdmissionOutcome>>
  readonly bySha256: Map<string, Waiting<string, void>>
  readonly byId: Map<string, Waiting<string, void>>
  /** Accounts of which the server holds less than the database knows. */
  readonly released: Set<string>
  readonly returned: Set<string>
  readonly since: number
  /** Tells the database that the server is alive. */
  beats: boolean
}

export const newGroup = (since: number): CallGroup => ({
  charges: [],
  holds: [],
  bySha256: new Map(),
  byId: new Map(),
  released: new Set(),
  returned: new Set(),
  since,
  beats: false
})

export const accountOfCharge = ({ question }: Waiting<Charge, void>): string => question.draft.account_id
export const accountOfHold = ({ question }: Waiting<AdmissionRequest, AdmissionOutcome>): string =>
  question.key.account_id

export const accountsOf = ({ charges, returned, holds }: CallGroup): ReadonlyArray<string> => [
  ...new Set([...charges.map(accountOfCharge), ...holds.map(accountOfHold), ...returned])
]

/** All promises that wait for something other than a charge. */
export const listOtherWaiting = ({ byId, bySha256, holds }: CallGroup) => [
  ...bySha256.values(),
  ...byId.values(),
  ...holds
]

const isEmpty = ({ beats, byId, bySha256, charges, returned, holds, released }: CallGroup) =>
  !beats && charges.length + holds.length + bySha256.size + byId.size + released.size + returned.size === 0
const appendRest = (parts: Array<CallGroup>, rest: CallGroup) => (isEmpty(rest) ? parts : [...parts, rest])

export const splitByCharge = (group: CallGroup): ReadonlyArray<CallGroup> =>
  appendRest(
    group.charges.map((charge) => ({ ...newGroup(group.since), charges: [charge] })),
    { ...group, charges: [] }
  )

/** The calls of each account in a group of their own, and everything that concerns no account in one more group. */
export const splitByAccount = ({ charges, returned, holds, since, ...rest }: CallGroup): ReadonlyArray<CallGroup> => {
  const parts = new Map<string, CallGroup>()
  const partOf = (accountId: string) => {
    const part = parts.get(accountId) ?? newGroup(since)
    parts.set(accountId, part)
    return part
  }
  for (const charge of charges) partOf(accountOfCharge(charge)).charges.push(charge)
  for (const hold of holds) partOf(accountOfHold(hold)).holds.push(hold)
  for (const id of returned) partOf(id).returned.add(id)
  return appendRest([...parts.values()], { ...rest, since, charges: [], holds: [], returned: new Set() })
}
