/** robots.txt of the hosts that one store is read from, each asked for once. */
import { Duration, Effect } from "effect"
import robotsParser from "robots-parser"
import { unread } from "./outcome.ts"

/** By what a robots.txt calls us: the name in our `User-Agent`, without its version. */
const us = "Larder"

// its types promise a `default` within the CommonJS module, which is the function itself
const parse = robotsParser as unknown as typeof robotsParser.default

/** `read` answers undefined where there is no robots.txt, or none for us: then all is allowed. */
export const makeRobots = <E, R>(
  read: (url: string) => Effect.Effect<string | undefined, E, R>,
  longestDelay: Duration.Input
) => {
  const known = new Map<string, ReturnType<typeof parse> | undefined>()

  const rulesOf = Effect.fnUntraced(function* (origin: string) {
    if (known.has(origin)) return known.get(origin)
    const url = `${origin}/robots.txt`
    const text = yield* read(url)
    const rules = text === undefined ? undefined : parse(url, text.replace(/^\uFEFF/, ""))
    known.set(origin, rules)
    return rules
  })

  /** Fails where the address may not be asked, else answers with the interval that its host wishes for. */
  const allow = Effect.fnUntraced(function* (url: string, shown?: string) {
    const { origin, pathname, protocol, search } = new URL(url)
    if (protocol !== "http:" && protocol !== "https:") return {}
    const rules = yield* rulesOf(origin)
    if (rules?.isAllowed(url, us) === false) {
      return yield* unread("forbidden", `${origin}/robots.txt forbids ${shown ?? pathname + search}`)
    }
    const delay = rules?.getCrawlDelay(us) ?? 0
    return delay > 0 ? { interval: Math.min(delay * 1000, Duration.toMillis(longestDelay)) } : {}
  })
  return { allow }
}
