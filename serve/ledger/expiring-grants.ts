/**
 * Credits that an account was given until some moment. A call takes from those that have not ended when it is admitted, the
 * earliest end first, and keeps what it has taken while it is under way. What is left at the end is taken out by an
 * adjustment; until that is written the balance includes it, and no call can spend it.
 */
import { timestampOf } from "./moments.ts"

export interface ExpiringGrant {
  /** Of the entry that granted it. */
  readonly position: number
  readonly endsAt: number
  /** Credits, without those of charges. */
  left: number
  /** Of them, set aside for calls. */
  held: number
}

export interface Taken {
  readonly grant: ExpiringGrant
  readonly credits: number
}

/** Nearly all accounts have none, and their calls take nothing. */
export const noGrants: ReadonlyArray<ExpiringGrant> = []
const nothingTaken: ReadonlyArray<Taken> = []

/** In the order in which they are spent. */
export const inOrder = (grants: ReadonlyArray<ExpiringGrant>): ReadonlyArray<ExpiringGrant> =>
  grants.toSorted((a, b) => a.endsAt - b.endsAt || a.position - b.position)

/** What has ended and is not held. */
export const endedCredits = (grants: ReadonlyArray<ExpiringGrant>, now: number): number => {
  let sum = 0
  for (const { endsAt, held, left } of grants) if (endsAt <= now) sum += left - held
  return sum
}

/** What a call of this price takes of them; the rest of its price is credits that do not end. */
export const takeFrom = (grants: ReadonlyArray<ExpiringGrant>, credits: number, now: number): ReadonlyArray<Taken> => {
  if (grants.length === 0) return nothingTaken
  let wanted = credits
  const taken: Array<Taken> = []
  for (const grant of grants) {
    const part = grant.endsAt <= now ? 0 : Math.min(wanted, grant.left - grant.held)
    if (part <= 0) continue
    grant.held += part
    wanted -= part
    taken.push({ grant, credits: part })
  }
  return taken
}

/** As an entry says it. Null where nothing was taken. */
export const grantsText = (taken: ReadonlyArray<Taken>): string | null =>
  taken.length === 0 ? null : taken.map(({ credits, grant }) => `${grant.position}:${-credits}`).join(" ")

interface GrantChange {
  readonly position: number
  /** Negative where credits are taken. */
  readonly credits: number
}

export const grantChanges = (text: string | null): ReadonlyArray<GrantChange> =>
  (text ?? "").split(" ").flatMap((part) => {
    const [, position, credits] = /^(\d+):(-?\d+)$/.exec(part) ?? []
    return position === undefined ? [] : [{ position: Number(position), credits: Number(credits) }]
  })

/** The same given back. */
export const givenBack = (text: string | null): string | null =>
  text === null
    ? null
    : grantChanges(text)
        .map(({ credits, position }) => `${position}:${-credits}`)
        .join(" ")

/** What is left of the grants of an account, and when it ends. */
export const grantsLeft = (grants: ReadonlyArray<ExpiringGrant>, now: number) =>
  grants.flatMap(({ endsAt, left }) =>
    left > 0 && endsAt > now ? [{ credits: left, expires_at: timestampOf(endsAt) }] : []
  )
