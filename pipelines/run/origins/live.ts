/**
 * The network. It sends one request at a time per host, with pauses; different hosts are queried in parallel. Redirects
 * are followed here, not by the client: each one waits for its turn at its own host, and the key is sent only to the
 * host it belongs to. Proxies are those of `proxies.ts`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { version } from "@larder/schemas"
import { Clock, Config, Duration, Effect, Exit, Layer, Scope } from "effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { conditionOf, confirms, isOfCondition, wantedValues } from "./conditional.ts"
import { describeFault } from "./connection-faults.ts"
import {
  ForbiddenAddress,
  Origin,
  RefusedByUpstream,
  type Resume,
  type SourceRequest,
  type SourceResponse,
  UpstreamUnavailable
} from "./origin.ts"
import { makePacing, type PacingPolicy, sharedLane } from "./pacing.ts"
import { checkAddress, privateAddressIn, privateHosts, publicLookup } from "./private-hosts.ts"
import { dispatcherThrough, noProxies, proxies, proxyForStores, proxyVariable } from "./proxies.ts"
import { leavesHttps, pageInstead, requiresPause, responseError } from "./response-errors.ts"
import { makeRetrying, parseRetryAfter, type RetryPolicy } from "./retrying.ts"
import { type BodyLimits, connectionError, decodeBody, readExcerpt, timeoutError } from "./transport.ts"

export interface LivePolicy extends PacingPolicy, RetryPolicy, BodyLimits {
  readonly connect: Duration.Input
  /** From sending the request to the response headers. */
  readonly head: Duration.Input
  readonly redirects: number
  /** Whether addresses come from untrusted lists: then none may lead into a private network, see `private-hosts.ts`. */
  readonly publicOnly: boolean
}

/** Unfiltered reports take up to two minutes; shops throttle a client for minutes; the largest file has 450 MB. */
export const livePolicy: LivePolicy = {
  interval: "1 second",
  firstPause: "15 seconds",
  longestPause: "90 seconds",
  patience: "5 minutes",
  endurance: "1 day",
  slowed: 0,
  lanes: {},
  tries: 5,
  firstBackOff: "2 seconds",
  longestBackOff: "1 minute",
  connect: "30 seconds",
  head: "5 minutes",
  idle: "2 minutes",
  body: "3 hours",
  redirects: 5,
  publicOnly: false
}

/** `LARDER_CONTACT` (a URL or an email address) lets a source reach the operator. */
const userAgent = Config.String("LARDER_CONTACT").pipe(
  Config.withDefault("self-hosted market data loader"),
  Config.map((contact) => `Larder/${version} (${contact.replace(/[^\x20-\x7e]|[()\\]/g, "").trim()})`)
)

interface Redirect {
  readonly moved_to: string
  readonly status: number
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

/** Where a redirect leads. It may neither leave HTTP nor downgrade from HTTPS to HTTP. */
const follow = (
  url: string,
  from: URL,
  { moved_to, status }: Redirect,
  { isLast, publicOnly }: { readonly isLast: boolean; readonly publicOnly: boolean }
) => {
  const refuse = (problem: string) => Effect.fail(new RefusedByUpstream({ url, status, problem }))
  const to = URL.parse(moved_to, from.href)
  if (to === null) return refuse("it redirects to an invalid address")
  if (isLast) return refuse(`it redirects too often, last to ${to.origin}${to.pathname}`)
  if (!publicOnly && from.protocol === "https:" && to.protocol === "http:") return Effect.fail(leavesHttps(url, to))
  if (to.protocol !== "https:" && to.protocol !== from.protocol) {
    return refuse(`it redirects from ${from.protocol.slice(0, -1)} to ${to.protocol.slice(0, -1)}`)
  }
  return Effect.succeed(to)
}

const isCount = (text: string | undefined) => text !== undefined && /^\d+$/.test(text)

/** Length of the payload; null if it is not reported, or if it is that of the compressed body. */
const lengthOf = (headers: Headers.Headers) =>
  (headers["content-encoding"] ?? "identity") === "identity" && isCount(headers["content-length"])
    ? Number(headers["content-length"])
    : null

/** Length of the whole payload, if this response is the rest of it from `from` on; otherwise null. */
const totalOfRest = (headers: Headers.Headers, { from }: Resume) => {
  const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? []
  const isRest = Number(start) === from && Number(end) + 1 === Number(total)
  return isRest && (headers["content-encoding"] ?? "identity") === "identity" ? Number(total) : null
}

/** Whether it is the same payload: its validator is unchanged, or is not repeated. */
const isSame = ({ etag, "last-modified": modified }: Headers.Headers, { validator }: Resume) =>
  (validator.startsWith('"') ? (etag ?? validator) : (modified ?? validator)) === validator

/** A source that has moved permanently is still read at its new address, but the redirect may end some day. */
const tellMoved = (from: URL, to: URL, status: number) =>
  [301, 308].includes(status)
    ? Effect.logWarning(`${from.host} has moved permanently: a newer version of Larder may know its new address`, {
        from: from.origin + from.pathname,
        to: to.origin + to.pathname
      })
    : Effect.void

/** Network settings. Fails with a description of an invalid setting. */
export const liveSettings = Config.all([userAgent, privateHosts, proxies, proxyForStores])

/** The configured proxies, and whether addresses of this policy may go through them. */
const proxiesFor = ({ publicOnly }: LivePolicy) =>
  Effect.map(Config.all([proxies, proxyForStores]), ([set, forStores]) => ({ set, used: !publicOnly || forStores }))

const make = Effect.fnUntraced(function* (policy: LivePolicy) {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  const allowed = yield* privateHosts
  const agent = yield* userAgent
  const proxy = yield* proxiesFor(policy)
  const pacing = makePacing(policy)

  const unanswered = Effect.fnUntraced(function* (url: string, at: URL, cause: unknown) {
    const forbidden = privateAddressIn(cause)
    if (forbidden !== undefined) return yield* new ForbiddenAddress({ url, problem: forbidden })
    const variable = proxyVariable(proxy.set, at.href)
    const fault = describeFault(cause, at.href, { now: yield* Clock.currentTimeMillis, variable })
    if (proxy.used || variable === undefined || fault.may_pass === false)
      return yield* connectionError(url, cause, fault)
    const advice = `${variable} is not used for stores: set LARDER_PROXY_FOR_STORES=yes if that proxy refuses private addresses.`
    return yield* connectionError(url, cause, { ...fault, advice })
  })

  const send = (
    ask: SourceRequest,
    at: URL,
    resume: Resume | undefined,
    condition: Readonly<Record<string, string>> = {}
  ) => {
    const headers = {
      accept: ask.accept,
      "accept-encoding": ask.resumable ? "identity" : "gzip", // ranges count the bytes of the encoded body
      "user-agent": agent,
      ...condition,
      ...(resume === undefined ? {} : { range: `bytes=${resume.from}-`, "if-range": resume.validator })
    }
    const request = HttpClientRequest.get(at.href, { headers })
    const isHome = at.origin === new URL(ask.url).origin
    return client
      .execute(ask.basicUser && isHome ? HttpClientRequest.basicAuth(request, ask.basicUser, "") : request)
      .pipe(
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.catch(({ reason: { cause } }) => unanswered(ask.url, at, cause)),
        Effect.timeoutOrElse({
          duration: policy.head,
          orElse: () => Effect.fail(timeoutError(ask.url, "no answer came", policy.head))
        })
      )
  }

  /** One request, from waiting for its turn to its response. The turn lasts until the scope closes. */
  const visit = Effect.fnUntraced(
    function* (ask: SourceRequest, at: URL, resume: Resume | undefined, isRedirected: boolean) {
      if (policy.publicOnly) yield* checkAddress(ask.url, at, allowed)
      const lanes = [at.host, ...(ask.lane === undefined ? [] : [sharedLane(ask.lane)])]
      for (const lane of lanes) yield* pacing.take(lane, ask.interval)
      const condition = conditionOf(ask, at, isRedirected)
      const response = yield* send(ask, at, resume, condition)
      const { status, headers } = response
      if (isRedirect(status) && headers.location !== undefined) return { moved_to: headers.location, status }
      const isOfResume = resume !== undefined && (status === 206 || status === 416)
      if (status === 200 || isOfResume || (condition !== undefined && isOfCondition(status))) {
        for (const lane of lanes) pacing.answered(lane)
        return response
      }
      const retryAfter = parseRetryAfter(headers["retry-after"], yield* Clock.currentTimeMillis)
      const pauses = requiresPause(status, retryAfter)
        ? yield* Effect.forEach(lanes, (lane) => pacing.pause(lane, retryAfter, at.host))
        : []
      const body = yield* readExcerpt(decodeBody(ask.url, response, policy))
      const [{ wait: pause_ms, patience: patience_ms } = { wait: undefined, patience: 0 }] = pauses
      return yield* responseError({ ask, at, status, body, pause_ms, patience_ms })
    },
    (effect, { url }) =>
      Effect.catchTag(effect, "LanePaused", ({ message: problem, until }) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.fail(new UpstreamUnavailable({ url, problem, may_pass: false, pause_ms: Math.max(0, until - now) }))
        )
      )
  )

  const open = Effect.fn("Origin.open")(function* (ask: SourceRequest, resume?: Resume) {
    const outer = yield* Effect.scope
    let sent = ask
    let at = new URL(ask.url)
    let resuming = resume
    for (let redirects = 0; ; ) {
      const turn = yield* Scope.fork(outer)
      const response = yield* Scope.provide(visit(sent, at, resuming, redirects > 0), turn)
      if ("moved_to" in response) {
        yield* Scope.close(turn, Exit.void) // the turn at this host ends before the turn at the next begins
        const from = at
        const { publicOnly } = policy
        at = yield* follow(ask.url, from, response, { isLast: redirects === policy.redirects, publicOnly })
        if (!policy.publicOnly) yield* tellMoved(from, at, response.status)
        if (ask.mayFollow !== undefined) sent = { ...sent, ...(yield* ask.mayFollow(at)) }
        redirects += 1
        continue
      }
      const { headers, status } = response
      if (isOfCondition(status) && !confirms(sent, response)) {
        yield* Scope.close(turn, Exit.void)
        yield* Effect.logInfo("requesting it in full: the response does not match the archived payload", {
          url: ask.url,
          status
        })
        const { held: _, ...inFull } = sent
        sent = inFull
        at = new URL(ask.url)
        redirects = 0
        continue
      }
      const rest =
        resuming !== undefined && status === 206 && isSame(headers, resuming) ? totalOfRest(headers, resuming) : null
      if (status !== 200 && status !== 304 && rest === null) {
        yield* Scope.close(turn, Exit.void)
        yield* Effect.logInfo("the download starts again: the server cannot resume it", { url: ask.url, status })
        resuming = undefined
        continue
      }
      if (!policy.publicOnly && status !== 304) yield* pageInstead(ask, at, headers["content-type"])
      const told = Object.entries(wantedValues(ask, response))
      return {
        status,
        final_url: redirects === 0 ? ask.url : at.origin + at.pathname,
        content_type: headers["content-type"] ?? null,
        etag: headers.etag ?? null,
        last_modified: headers["last-modified"] ?? null,
        exact: true,
        from: rest === null ? 0 : (resuming?.from ?? 0),
        total: rest ?? lengthOf(headers),
        ...(told.length === 0 ? {} : { told: Object.fromEntries(told) }),
        body: decodeBody(ask.url, response, { idle: policy.idle, body: ask.within ?? policy.body })
      } satisfies SourceResponse
    }
  })

  const listing = () => Effect.succeed(undefined)
  return Origin.of({ kind: "live", open, listing, retrying: makeRetrying(policy) })
})

/** `policy` replaces parts of `livePolicy`: for the hosts of a pipeline, for a probe, and for tests. */
export const liveOrigin = (policy: Partial<LivePolicy> = {}) => {
  const whole = { ...livePolicy, ...policy }
  const dispatcher = Effect.gen(function* () {
    const allowed = yield* privateHosts
    const { set, used } = yield* proxiesFor(whole)
    const timeout = Duration.toMillis(whole.connect)
    return yield* dispatcherThrough(used ? set : noProxies, {
      timeout,
      ...(whole.publicOnly ? { lookup: publicLookup(allowed) } : {})
    })
  })
  const client = NodeHttpClient.layerUndiciNoDispatcher.pipe(
    Layer.provide(Layer.effect(NodeHttpClient.Dispatcher, dispatcher))
  )
  return Layer.effect(Origin, make(whole)).pipe(Layer.provide(client))
}
