/** robots.txt of the hosts that one store is read from, each asked for once. */
import { Duration, Effect } from "effect"
import { unread } from "./outcome.ts"
import { type RobotsRules, robotsRules } from "./robots-rules.ts"

/** By what a robots.txt calls us: the name in our `User-Agent`, without its version. */
const us = "larder"

/** `read` answers undefined where there is no robots.txt, or none for us: then all is allowed. */
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

  /** Fails where the address may not be asked, else answers with the interval that its host wishes for. */
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
