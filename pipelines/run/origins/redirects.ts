/** Redirects: which responses are one, where they may lead, and which are reported. */
import { Effect } from "effect"
import { RefusedByUpstream } from "./origin.ts"
import { downgradeError } from "./response-errors.ts"

export interface Redirect {
  readonly moved_to: string
  readonly status: number
}

export const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

/** Returns the target of a redirect. It may neither leave HTTP nor downgrade from HTTPS to HTTP. */
export const followRedirect = (
  url: string,
  from: URL,
  { moved_to, status }: Redirect,
  isLast: boolean,
  publicOnly: boolean
) => {
  const refuse = (problem: string) => Effect.fail(new RefusedByUpstream({ url, status, problem }))
  const to = URL.parse(moved_to, from.href)
  if (to === null) return refuse("it redirects to an invalid address")
  if (isLast) return refuse(`it redirects too often, last to ${to.origin}${to.pathname}`)
  if (!publicOnly && from.protocol === "https:" && to.protocol === "http:") return Effect.fail(downgradeError(url, to))
  if (to.protocol !== "https:" && to.protocol !== from.protocol) {
    return refuse(`it redirects from ${from.protocol.slice(0, -1)} to ${to.protocol.slice(0, -1)}`)
  }
  return Effect.succeed(to)
}

/** A source that has moved permanently is still read at its new address, but the redirect may end some day. */
export const warnMoved = (from: URL, to: URL, status: number) =>
  [301, 308].includes(status)
    ? Effect.logWarning(
        `${from.host} has moved permanently. If a setting such as LARDER_MARS_URL names it, change the setting; otherwise a newer version of Larder may have its new address`,
        { from: from.origin + from.pathname, to: to.origin + to.pathname }
      )
    : Effect.void
