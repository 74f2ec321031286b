/** The robots.txt of each host that one store is read from, fetched once per host. */
import { Duration, Effect } from "effect"
import { unread } from "./outcome.ts"
import { type RobotsRules, robotsRules } from "./robots-rules.ts"

/** The name by which a robots.txt addresses us: the one in our `User-Agent`, without its version. */
const us = "larder"

/** `read` returns undefined if there is no robots.txt, or none that we may read: then everything is allowed. */
export const makeRobots = <E, R>(
  read: (url: string) => Effect.Effect<string | undefined, E, R>,
  longestDelay: Duration.Input
) => {
  const known = new Map<string, RobotsRules | undefined>()

  const rulesOf = Effect.fnUntraced(function* (origin: string) {
    if (known.has(origin)) return known.get(origin)
    const url = `${origin}/robots.txt`
    const text = yield* read(url)
    const rules = text === undefined ? undefined : robotsRules(text, us)
    known.set(origin, rules)
    return rules
  })

  /** Fails if the address may not be requested. Otherwise returns the interval that its host asks for. */
  const allow = Effect.fnUntraced(function* (url: string, shown?: string) {
    const address = new URL(url)
    const { origin, pathname, protocol, search } = address
    if (protocol !== "http:" && protocol !== "https:") return {}
    const rules = yield* rulesOf(origin)
    if (rules?.allows(address) === false) {
      return yield* unread("forbidden", `${origin}/robots.txt forbids ${shown ?? pathname + search}`)
    }
    const delay = rules?.delay ?? 0
    return delay > 0 ? { interval: Math.min(delay * 1000, Duration.toMillis(longestDelay)) } : {}
  })
  return { allow }
}
