/**
 * Credits that expire. A call takes from those that have not expired when it is admitted, the earliest expiry first,
 * and keeps what it has taken while it runs. After expiry, an adjustment removes the rest; until it is written, the
 * balance includes the rest, but no call can spend it.
 */
import { timestampOf } from "../utc-calendar.ts"

export interface ExpiringGrant {
  /** Position of the entry that granted it. */
  readonly position: number
  readonly endsAt: number
  /** Credits that have been neither charged nor removed after expiry. */
  left: number
  /** The part of `left` that calls hold. */
  held: number
}

export interface TakenCredits {
  readonly grant: ExpiringGrant
  readonly credits: number
}

/** Nearly all accounts have no grants, and their calls take nothing. */
export const noGrants: ReadonlyArray<ExpiringGrant> = []
const nothingTaken: ReadonlyArray<TakenCredits> = []

/** In spending order: earliest expiry first. */
export const sortGrants = (grants: ReadonlyArray<ExpiringGrant>): ReadonlyArray<ExpiringGrant> =>
  grants.toSorted((a, b) => a.endsAt - b.endsAt || a.position - b.position)

/** Credits that have expired and are not held. */
export const sumExpired = (grants: ReadonlyArray<ExpiringGrant>, now: number): number => {
  let sum = 0
  for (const { endsAt, held, left } of grants) if (endsAt <= now) sum += left - held
  return sum
}

/** Takes the price of a call from the grants. Credits that do not expire cover the rest of the price. */
export const takeCredits = (
  grants: ReadonlyArray<ExpiringGrant>,
  credits: number,
  now: number
): ReadonlyArray<TakenCredits> => {
  if (grants.length === 0) return nothingTaken
  let rest = credits
  const taken: Array<TakenCredits> = []
  for (const grant of grants) {
    const part = grant.endsAt <= now ? 0 : Math.min(rest, grant.left - grant.held)
    if (part <= 0) continue
    grant.held += part
    rest -= part
    taken.push({ grant, credits: part })
  }
  return taken
}

/** Formats what an entry stores, such as `3:-20 12:-5`. Null if nothing was taken. */
export const formatGrants = (taken: ReadonlyArray<TakenCredits>): string | null =>
  taken.length === 0 ? null : taken.map(({ credits, grant }) => `${grant.position}:${-credits}`).join(" ")

/** Changes of grants, by their position. Credits are negative if they are taken. */
export const parseGrants = (grants: string | null) =>
  (grants ?? "").split(" ").flatMap((part) => {
    const [, position, credits] = /^(\d+):(-?\d+)$/.exec(part) ?? []
    return position === undefined ? [] : [{ position: Number(position), credits: Number(credits) }]
  })

/** The same changes with the opposite sign. */
export const reverseGrants = (grants: string | null): string | null =>
  grants === null
    ? null
    : parseGrants(grants)
        .map(({ credits, position }) => `${position}:${-credits}`)
        .join(" ")

/** What is left of an account's unexpired grants, and when they expire. */
export const listUnspentGrants = (grants: ReadonlyArray<ExpiringGrant>, now: number) =>
  grants.flatMap(({ endsAt, left }) =>
    left > 0 && endsAt > now ? [{ credits: left, expires_at: timestampOf(endsAt) }] : []
  )
