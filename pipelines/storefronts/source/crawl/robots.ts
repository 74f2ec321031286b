/**
 * The robots.txt of each host of a store, fetched once per host. By RFC 9309, the longest pattern that matches an
 * address decides, and `Allow` wins between patterns of equal length. The rules are compiled once: 500 KiB of patterns
 * with `*` take a few milliseconds per address. The parsers on npm compare each address with each character of each
 * rule, which takes seconds.
 */
import { Duration, Effect } from "effect"
import { makeUnread } from "./outcome.ts"

interface Wildcard {
  /** The texts between the `*`. The first one begins the path, and the last one ends it if `isWhole`. */
  readonly parts: ReadonlyArray<string>
  readonly isWhole: boolean
  readonly length: number
  readonly isAllowed: boolean
}

interface Rule {
  readonly length: number
  readonly isAllowed: boolean
}

const encodePath = (path: string) =>
  encodeURI(path.replace(/\p{Cs}/gu, ""))
    .replaceAll("%25", "%")
    .replace(/%[0-9a-f]{2}/gi, (code) => code.toUpperCase())

/** Percent-encodes characters beyond ASCII, with encodings in upper case: `/ä` and `/%c3%a4` are the same. */
const normalizePath = (path: string) => (/^[!-$&-~]*$/.test(path) ? path : encodePath(path))

const matches = ({ isWhole, parts }: Wildcard, path: string): boolean => {
  const [first = "", ...others] = parts
  if (!path.startsWith(first)) return false
  let at = first.length
  const last = isWhole ? others.pop() : undefined
  for (const part of others) {
    const index = path.indexOf(part, at)
    if (index === -1) return false
    at = index + part.length
  }
  return last === undefined || (path.length - last.length >= at && path.endsWith(last))
}

const pickStronger = (a: Rule | undefined, b: Rule): Rule => {
  if (a === undefined || b.length > a.length) return b
  return b.length === a.length && b.isAllowed ? b : a
}

class RuleGroup {
  readonly #prefixes = new Map<string, boolean>()
  readonly #whole = new Map<string, boolean>()
  readonly #wildcards: Array<Wildcard> = []
  delay = 0

  add(rule: string, isAllowed: boolean) {
    if (rule === "") return
    const pattern = normalizePath(rule).replace(/\*+/g, "*")
    const isWhole = pattern.endsWith("$")
    const path = isWhole ? pattern.slice(0, -1) : pattern
    if (path.includes("*")) this.#wildcards.push({ parts: path.split("*"), isWhole, length: pattern.length, isAllowed })
    else {
      const rules = isWhole ? this.#whole : this.#prefixes
      rules.set(path, isAllowed || rules.get(path) === true)
    }
  }

  allows(path: string): boolean {
    let rule: Rule | undefined
    for (let length = 1; length <= path.length; length++) {
      const isAllowed = this.#prefixes.get(path.slice(0, length))
      if (isAllowed !== undefined) rule = pickStronger(rule, { length, isAllowed })
    }
    const isAllowed = this.#whole.get(path)
    if (isAllowed !== undefined) rule = pickStronger(rule, { length: path.length + 1, isAllowed })
    for (const wildcard of this.#wildcards) {
      const isStronger = rule === undefined || pickStronger(rule, wildcard) !== rule
      if (isStronger && matches(wildcard, path)) rule = wildcard
    }
    return rule?.isAllowed ?? true
  }
}

interface RobotsRules {
  readonly allows: (url: URL) => boolean
  /** Seconds between two requests; 0 if none are stated. */
  readonly delay: number
}

/**
 * The rules of the group that names the crawler, or else of the group for all. `name` is in lower case. Other groups
 * are not kept: a group may have as many names as rules, so all of them would take memory quadratic in the file size.
 */
export const parseRobots = (text: string, name: string): RobotsRules => {
  const groups = new Map<string, RuleGroup>()
  const currentGroups = new Set<RuleGroup>()
  let isNaming = false
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n?|\n/)) {
    const [, field = "", value = ""] = /^\s*([a-z-]+)\s*:\s*([^#]*)/i.exec(line) ?? []
    const key = field.toLowerCase()
    if (key === "user-agent") {
      if (!isNaming) currentGroups.clear()
      isNaming = true
      const agent = (value.split("/")[0] ?? "").trim().toLowerCase()
      if (agent !== name && agent !== "*") continue
      const group = groups.get(agent) ?? new RuleGroup()
      groups.set(agent, group)
      currentGroups.add(group)
    } else if (key === "allow" || key === "disallow" || key === "crawl-delay") {
      isNaming = false
      const text = value.trim()
      for (const group of currentGroups) {
        if (key === "crawl-delay") group.delay = Number(text) > 0 ? Number(text) : 0
        else group.add(text, key === "allow")
      }
    }
  }
  const group = groups.get(name) ?? groups.get("*") ?? new RuleGroup()
  return { allows: ({ pathname, search }) => group.allows(normalizePath(pathname + search)), delay: group.delay }
}

const crawlerName = "larder"

/** `read` returns undefined if robots.txt is missing or access to it is denied: then everything is allowed. */
export const makeRobots = <E, R>(
  read: (url: string) => Effect.Effect<string | undefined, E, R>,
  maxDelay: Duration.Input
) => {
  const known = new Map<string, RobotsRules | undefined>()

  const findRules = Effect.fnUntraced(function* (origin: string) {
    if (known.has(origin)) return known.get(origin)
    const url = `${origin}/robots.txt`
    const text = yield* read(url)
    const rules = text === undefined ? undefined : parseRobots(text, crawlerName)
    known.set(origin, rules)
    return rules
  })

  /** Fails if the address must not be requested. Otherwise returns the interval that its host requests. */
  const requireAllowed = Effect.fnUntraced(function* (url: string, shown?: string) {
    const address = new URL(url)
    const { origin, pathname, protocol, search } = address
    if (protocol !== "http:" && protocol !== "https:") return {}
    const rules = yield* findRules(origin)
    if (rules?.allows(address) === false) {
      return yield* makeUnread("forbidden", `${origin}/robots.txt forbids ${shown ?? pathname + search}`)
    }
    const delay = rules?.delay ?? 0
    return delay > 0 ? { interval: Math.min(delay * 1000, Duration.toMillis(maxDelay)) } : {}
  })
  return { requireAllowed }
}
