/** A group: what a server has gathered for the database, and who waits for it. */
import type { Draft } from "../machine.ts"
import { monthOf } from "../moments.ts"
import type { Membership } from "./membership.ts"
import type { GroupAnswer, GroupAsked, HoldAsked, StoredKey } from "./wire.ts"

/** The outcome of a hold, and the name under which it was placed. */
export interface Decided {
  readonly outcome: GroupAnswer["holds"][number]
  readonly membership: Membership
}
export type Released = GroupAsked["released"][number]

export interface Waiting<Question, Answer> extends PromiseWithResolvers<Answer> {
  readonly question: Question
}
export const waitingFor = <Question, Answer>(question: Question): Waiting<Question, Answer> => ({
  question,
  ...Promise.withResolvers<Answer>()
})

export interface Group {
  readonly charges: Array<Waiting<Draft, void>>
  readonly released: Array<Released>
  /** By SHA-256. */
  readonly keys: Map<string, Waiting<string, StoredKey | null>>
  readonly holds: Array<Waiting<HoldAsked, Decided>>
  readonly since: number
}

export const newGroup = (since: number): Group => ({ charges: [], released: [], keys: new Map(), holds: [], since })

export const questionOf = ({ charges, holds, keys, released }: Group, now: number): GroupAsked => ({
  month: monthOf(now),
  charges: charges.map(({ question }) => question),
  released,
  keys: [...keys.keys()],
  holds: holds.map(({ question }) => question)
})

/** What a charge that was not written has held. */
export const heldBy = ({ account_id, credits, key_id, occurred_at }: Draft): Released => ({
  account_id,
  key_id: key_id ?? "",
  month: monthOf(Date.parse(occurred_at)),
  credits: -credits
})

const withRest = (parts: Array<Group>, rest: Group) =>
  rest.released.length + rest.keys.size + rest.holds.length === 0 ? parts : [...parts, rest]

/** Each charge in a group of its own, and all else in one. */
export const chargeByCharge = (group: Group): ReadonlyArray<Group> =>
  withRest(
    group.charges.map((charge) => ({ ...newGroup(group.since), charges: [charge] })),
    { ...group, charges: [] }
  )

/** The calls of each account in a group of their own, and what concerns no account in one. */
export const accountByAccount = ({ charges, holds, since, ...rest }: Group): ReadonlyArray<Group> => {
  const parts = new Map<string, Group>()
  const partOf = (accountId: string) => {
    const part = parts.get(accountId) ?? newGroup(since)
    parts.set(accountId, part)
    return part
  }
  for (const charge of charges) partOf(charge.question.account_id).charges.push(charge)
  for (const hold of holds) partOf(hold.question.account_id).holds.push(hold)
  return withRest([...parts.values()], { ...rest, since, charges: [], holds: [] })
}
