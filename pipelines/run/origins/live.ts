/**
 * The network: one request at a time per host, with pauses, and different hosts in parallel. Redirects are followed
 * here, not by the client: each one waits for its own host, and the key is sent only to its own host.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { version } from "@larder/schemas"
import { Clock, Config, Duration, Effect, Exit, Layer, Scope } from "effect"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse as Response } from "effect/http/HttpClientResponse"
import { confirmsPayload, isConditional, makeCondition, selectExtraValues } from "./conditional.ts"
import { describeFault } from "./connection-faults.ts"
import { locate, mayReceiveKey, mirrors } from "./mirrors.ts"
import {
  ForbiddenAddress,
  GivenUp,
  Origin,
  type Resume,
  runTimeOver,
  type SourceRequest,
  type SourceResponse,
  UpstreamUnavailable
} from "./origin.ts"
import { makePacing, nameSharedPool, type PacingPolicy, parseRetryAfter } from "./pacing.ts"
import { checkAddress, privateAddressMessage, privateHosts, publicLookup } from "./private-hosts.ts"
import { makeDispatcher, noProxies, proxies, proxyForStores, proxyVariable } from "./proxies.ts"
import { followRedirect, isRedirect, warnMoved } from "./redirects.ts"
import {
  describeOtherHost,
  isThrottling,
  limitsClient,
  makeResponseError,
  type RequiredPause,
  refuseHtmlPage
} from "./response-errors.ts"
import { connectionError, decodeBody, readExcerpt, type TimeLimit, timeoutError } from "./transport.ts"
import { countTime, isRepeated, makeHostTries, makeRetrying, RunTime, readUsedTime, type TryPolicy } from "./tries.ts"

export interface LivePolicy extends PacingPolicy, TryPolicy {
  /** Shorter than `responseTimeout`, which includes it: otherwise a host without a connection would not be recognised. */
  readonly connectTimeout: Duration.Input
  /** From sending a request to the first byte of its response. */
  readonly responseTimeout: Duration.Input
  /** Between two chunks of a body. The only limit of a download that can be resumed. */
  readonly idleTimeout: Duration.Input
  readonly maxRedirects: number
  /** Whether addresses come from untrusted lists: then none may lead into a private network, see `private-hosts.ts`. */
  readonly publicOnly: boolean
}

/** Reports take up to two minutes; the largest file has 450 MB. */
export const livePolicy: LivePolicy = {
  interval: "1 second",
  initialPause: "15 seconds",
  maxPause: "1 minute",
  maxWait: "5 minutes",
  maxTotalPause: "5 minutes",
  minThrottled: 3,
  throttledInterval: 0,
  pools: {},
  maxAttempts: 5,
  initialBackoff: "2 seconds",
  maxBackoff: "1 minute",
  connectTimeout: "10 seconds",
  responseTimeout: "20 seconds",
  idleTimeout: "1 minute",
  totalTimeout: "2 minutes",
  maxRedirects: 5,
  publicOnly: false
}

/** `LARDER_CONTACT` (a URL or an email address) lets a source reach the operator. */
const userAgent = Config.String("LARDER_CONTACT").pipe(
  Config.withDefault("self-hosted market data loader"),
  Config.map((contact) => `Larder/${version} (${contact.replace(/[^\x20-\x7e]|[()\\]/g, "").trim()})`)
)

const isCompressed = (headers: Headers.Headers) => (headers["content-encoding"] ?? "identity") !== "identity"

/** Reads the length of the payload; null if it is not reported, or if it is the length of the compressed body. */
const readLength = (headers: Headers.Headers) => {
  const length = headers["content-length"] ?? ""
  return /^\d+$/.test(length) && !isCompressed(headers) ? Number(length) : null
}

/** Whether it is the same payload: its validator is unchanged, or is not repeated. */
const isSamePayload = ({ etag, "last-modified": modified }: Headers.Headers, { validator }: Resume) =>
  (validator.startsWith('"') ? (etag ?? validator) : (modified ?? validator)) === validator

/** Reads the length of the whole payload if this response is its rest; otherwise null. */
const readTotal = ({ headers, status }: Response, resume: Resume | undefined) => {
  if (resume === undefined || status !== 206 || !isSamePayload(headers, resume)) return null
  const [, start, end, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers["content-range"] ?? "") ?? []
  const isRest = Number(start) === resume.from && Number(end) + 1 === Number(total)
  return isRest && !isCompressed(headers) ? Number(total) : null
}

/** Whether a response has neither the whole payload nor the rest that was requested. */
const cannotResume = (response: Response, resume: Resume | undefined) =>
  response.status !== 200 && response.status !== 304 && readTotal(response, resume) === null

/** A request on its way: where it is sent next, after how many redirects. */
interface Step {
  readonly request: SourceRequest
  readonly at: URL
  readonly redirects: number
  readonly resume: Resume | undefined
}

export const liveSettings = Config.all([userAgent, privateHosts, proxies, proxyForStores, mirrors])

/** Returns the configured proxies, and whether addresses of this policy may go through them. */
const readProxies = ({ publicOnly }: LivePolicy) =>
  Effect.map(Config.all([proxies, proxyForStores]), ([configured, forStores]) => ({
    configured,
    isUsed: !publicOnly || forStores
  }))

const make = Effect.fnUntraced(function* (policy: LivePolicy) {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  const allowed = yield* privateHosts
  const agent = yield* userAgent
  const proxy = yield* readProxies(policy)
  const configured = yield* mirrors
  const totalTimeout = Duration.toMillis(policy.totalTimeout)
  const pacing = makePacing(policy)
  const hostTries = makeHostTries(policy)
  const runTime = yield* RunTime

  /** The limit that ends first: for this step, for all tries of the request, or for the run. */
  const findTimeLimit = Effect.fnUntraced(function* ({ resumable, url }: SourceRequest, step?: TimeLimit) {
    const total: TimeLimit = {
      ms: resumable ? Number.POSITIVE_INFINITY : totalTimeout - (yield* readUsedTime),
      error: timeoutError(url, "the response did not end", policy.totalTimeout)
    }
    const ofRun = {
      ms: yield* runTime.remaining,
      error: new GivenUp({ url, reason: runTimeOver, problem: runTime.problem })
    }
    return [total, ofRun].reduce((first, limit) => (limit.ms < first.ms ? limit : first), step ?? total)
  })

  const failConnection = Effect.fnUntraced(function* (url: string, at: URL, cause: unknown) {
    const forbidden = privateAddressMessage(cause)
    if (forbidden !== undefined) return yield* new ForbiddenAddress({ url, problem: forbidden })
    const variable = proxyVariable(proxy.configured, at.href)
    const described = describeFault(cause, at.href, { now: yield* Clock.currentTimeMillis, variable })
    const other = describeOtherHost(url, locate(configured, url), at)
    const fault = other === undefined ? described : { ...described, problem: `${described.problem} (${other})` }
    if (fault.no_connection) yield* hostTries.countFailure(at.host)
    if (proxy.isUsed || variable === undefined || fault.may_pass === false)
      return yield* connectionError(url, cause, fault)
    const advice = `${variable} is not used for stores: set LARDER_PROXY_FOR_STORES=yes if that proxy refuses private addresses.`
    return yield* connectionError(url, cause, { ...fault, advice })
  })

  const send = Effect.fnUntraced(function* (
    request: SourceRequest,
    at: URL,
    resume: Resume | undefined,
    condition: Readonly<Record<string, string>> = {}
  ) {
    const { accept, basicUser, resumable, url } = request
    const headers = {
      accept,
      "accept-encoding": resumable ? "identity" : "gzip", // ranges count the bytes of the encoded body
      "user-agent": agent,
      ...condition,
      ...(resume === undefined ? {} : { range: `bytes=${resume.from}-`, "if-range": resume.validator })
    }
    const get = HttpClientRequest.get(at.href, { headers })
    const other = describeOtherHost(url, locate(configured, url), at)
    const event = other === undefined ? "no response arrived" : `no response arrived from ${other},`
    const firstByte: TimeLimit = {
      ms: Duration.toMillis(policy.responseTimeout),
      error: timeoutError(url, event, policy.responseTimeout)
    }
    const limit = yield* findTimeLimit(request, request.slow && (yield* isRepeated) ? undefined : firstByte)
    const response = yield* client
      .execute(basicUser && mayReceiveKey(configured, url, at) ? HttpClientRequest.basicAuth(get, basicUser, "") : get)
      .pipe(
        Effect.provideService(HttpClient.TracerPropagationEnabled, false),
        Effect.catch(({ reason: { cause } }) => failConnection(url, at, cause)),
        Effect.timeoutOrElse({
          duration: limit.ms,
          orElse: () => Effect.andThen(hostTries.countFailure(at.host), Effect.fail(limit.error))
        })
      )
    yield* hostTries.countResponse(at.host)
    return response
  })

  /**
   * The pause that a response requires: of its request, which waits itself, and if the host limits this client, also of
   * the host. A store is one feed, so its host waits in each case, unless it requires too long a pause for one page.
   */
  const pauseFor = Effect.fnUntraced(function* (
    pools: ReadonlyArray<string>,
    at: URL,
    status: number,
    retryAfter: number | undefined
  ): Effect.fn.Return<RequiredPause | undefined> {
    if (!isThrottling(status, retryAfter)) return undefined
    const maxWait = Duration.toMillis(policy.maxWait)
    const isTooLong = retryAfter !== undefined && retryAfter > maxWait
    const isOfHost = limitsClient(status) || (policy.publicOnly && !isTooLong)
    const [ofHost] = isOfHost
      ? yield* Effect.forEach(pools, (pool) => pacing.pause(pool, retryAfter, at.host, at.href))
      : []
    const wait = retryAfter ?? ofHost?.wait
    if (policy.publicOnly) return ofHost ?? (wait === undefined ? undefined : { wait, maxWait })
    return wait === undefined ? undefined : { wait, left: Math.min(maxWait, totalTimeout - (yield* readUsedTime)) }
  })

  /** Waits for the host, sends one request and returns its response. Occupies the host until the scope closes. */
  const visit = Effect.fnUntraced(
    function* ({ at, redirects, request, resume }: Step) {
      if (policy.publicOnly) yield* checkAddress(request.url, at, allowed)
      const pools = [at.host, ...(request.pool === undefined ? [] : [nameSharedPool(request.pool)])]
      yield* runTime.limitWait(
        request.url,
        Effect.forEach(pools, (pool) =>
          pacing.take(pool, request.interval, hostTries.requireLeft(request.url, at.host))
        )
      )
      if (request.resumable === undefined) yield* countTime
      const condition = makeCondition(request, at, redirects > 0)
      const response = yield* send(request, at, resume, condition)
      const { status, headers } = response
      if (isRedirect(status) && headers.location !== undefined) return { moved_to: headers.location, status }
      const isResumed = resume !== undefined && (status === 206 || status === 416)
      if (status === 200 || isResumed || (condition !== undefined && isConditional(status))) {
        for (const pool of pools) pacing.resetBackoff(pool)
        return response
      }
      const retryAfter = parseRetryAfter(headers["retry-after"], yield* Clock.currentTimeMillis)
      const pause = yield* pauseFor(pools, at, status, retryAfter)
      const limits = { idleTimeout: policy.idleTimeout, end: yield* findTimeLimit(request) }
      const body = yield* readExcerpt(decodeBody(request.url, response, limits))
      return yield* makeResponseError({
        request,
        at,
        from: locate(configured, request.url),
        mayHaveKey: mayReceiveKey(configured, request.url, at),
        status,
        body,
        pause
      })
    },
    (effect, { request: { url } }) =>
      Effect.catchTag(effect, "PoolPaused", ({ message: problem, until }) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.fail(new UpstreamUnavailable({ url, problem, may_pass: false, pause_ms: Math.max(0, until - now) }))
        )
      )
  )

  /** Sends a request, follows its redirects, and returns the last response. Its host is occupied until `release`. */
  const follow = Effect.fnUntraced(function* (start: Step) {
    const callerScope = yield* Effect.scope
    let warnings: Effect.Effect<void> = Effect.void // logged only if the response is read: a failed feed is one line of the log
    for (let step = start; ; ) {
      const hostScope = yield* Scope.fork(callerScope)
      const response = yield* Scope.provide(visit(step), hostScope)
      const release = Scope.close(hostScope, Exit.void)
      if (!("moved_to" in response)) {
        yield* warnings
        return { ...step, response, release }
      }
      yield* release // frees this host before the next one is occupied
      const { at: from, redirects, request } = step
      const at = yield* followRedirect(
        request.url,
        from,
        response,
        redirects === policy.maxRedirects,
        policy.publicOnly
      )
      if (!policy.publicOnly) warnings = Effect.andThen(warnings, warnMoved(from, at, response.status))
      const sent = request.mayFollow === undefined ? request : { ...request, ...(yield* request.mayFollow(at)) }
      step = { ...step, request: sent, at, redirects: redirects + 1 }
    }
  })

  /** A request has validators or resumes a download, never both. */
  const open = Effect.fn("Origin.open")(function* (request: SourceRequest, resume?: Resume) {
    const { url } = request
    const { idleTimeout, publicOnly } = policy
    const start = { at: locate(configured, url), redirects: 0, resume }
    let found = yield* follow({ ...start, request })
    if (isConditional(found.response.status) && !confirmsPayload(found.request, found.response)) {
      yield* found.release
      const message = "requesting it in full: the response does not match the archived payload"
      yield* Effect.logInfo(message, { url, status: found.response.status })
      const { validators: _, ...unconditional } = found.request
      found = yield* follow({ ...start, request: unconditional })
    }
    if (cannotResume(found.response, found.resume)) {
      yield* found.release
      const message = "the download starts again: the server cannot resume it"
      yield* Effect.logInfo(message, { url, status: found.response.status })
      found = yield* follow({ ...found, resume: undefined })
    }
    const { at, redirects, response } = found
    const { headers, status } = response
    const total = readTotal(response, found.resume)
    if (!publicOnly && status !== 304) yield* refuseHtmlPage(request, start.at, at, headers["content-type"])
    const values = selectExtraValues(request, response)
    return {
      status,
      final_url: redirects === 0 ? url : at.origin + at.pathname,
      content_type: headers["content-type"] ?? null,
      etag: headers.etag ?? null,
      last_modified: headers["last-modified"] ?? null,
      exact: true,
      from: total === null ? 0 : (found.resume?.from ?? 0),
      total: total ?? readLength(headers),
      ...(Object.keys(values).length === 0 ? {} : { extra_values: values }),
      body: decodeBody(url, response, { idleTimeout, end: yield* findTimeLimit(request) })
    } satisfies SourceResponse
  })

  const list = () => Effect.succeed(undefined)
  return Origin.of({ kind: "live", open, list, retry: makeRetrying(policy, runTime) })
})

/** `policy` replaces parts of `livePolicy`: for the hosts of a pipeline, for a probe, and for tests. */
export const liveOrigin = (policy: Partial<LivePolicy> = {}) => {
  const complete = { ...livePolicy, ...policy }
  const dispatcher = Effect.gen(function* () {
    const allowed = yield* privateHosts
    const { configured, isUsed } = yield* readProxies(complete)
    const timeout = Duration.toMillis(complete.connectTimeout)
    return yield* makeDispatcher(isUsed ? configured : noProxies, {
      timeout,
      ...(complete.publicOnly ? { lookup: publicLookup(allowed) } : {})
    })
  })
  const client = NodeHttpClient.layerUndiciNoDispatcher.pipe(
    Layer.provide(Layer.effect(NodeHttpClient.Dispatcher, dispatcher))
  )
  return Layer.effect(Origin, make(complete)).pipe(Layer.provide(client))
}
