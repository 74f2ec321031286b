/** Checks expiring credits: what charges and expiry left of them, and that no charge used them after expiry. */
import type { Sqlite } from "../../../persistence/index.ts"
import type { Entry } from "../../chain/records.ts"
import { parseGrants } from "../../rules/expiring-grants.ts"
import { readGrants } from "../thread-reads.ts"

interface Grant {
  readonly expires_at: string
  left: number
}

const describeEntry = (accountId: string, position: number) => `entry ${position} of account ${accountId}`

export const makeGrantChecks = () => {
  const granted = new Map<string, Grant>()
  return {
    check: ({ account_id, credits, expires_at, grants, occurred_at, position, type }: Entry): ReadonlyArray<string> => {
      if (expires_at !== null) granted.set(describeEntry(account_id, position), { expires_at, left: credits })
      if (grants === null) return []
      const changes = parseGrants(grants)
      const taken = changes.reduce((sum, change) => sum + change.credits, 0)
      if (changes.length !== grants.split(" ").length)
        return [`${describeEntry(account_id, position)} names no credits: ${grants}`]
      if (credits < 0 && taken < credits)
        return [`${describeEntry(account_id, position)} takes more of other entries than its credits`]
      return changes.flatMap((change) => {
        const [place, source] = [describeEntry(account_id, position), describeEntry(account_id, change.position)]
        const grant = granted.get(source)
        if (grant === undefined) return [`${place} takes of the credits of ${source}, which do not expire`]
        grant.left += change.credits
        return [
          ...(grant.left < 0 ? [`${place} takes more of the credits of ${source} than there were`] : []),
          ...(type === "charge" && occurred_at >= grant.expires_at
            ? [`${place} was charged to credits of ${source}, which had expired`]
            : [])
        ]
      })
    },
    problems: (sqlite: Sqlite): ReadonlyArray<string> => {
      const stored = new Map(
        readGrants(sqlite).map(({ account_id, credits_left, expires_at, position }): [string, Grant] => [
          describeEntry(account_id, position),
          { expires_at, left: credits_left }
        ])
      )
      return [...new Set([...granted.keys(), ...stored.keys()])].flatMap((place) => {
        const [here, there] = [granted.get(place), stored.get(place)]
        return here?.left === there?.left && here?.expires_at === there?.expires_at
          ? []
          : [`${place} has ${there?.left ?? 0} credits left that expire, and its charges say ${here?.left ?? 0}`]
      })
    }
  }
}
