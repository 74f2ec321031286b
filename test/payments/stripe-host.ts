/**
 * Stripe's API on this machine: its wire format over real HTTP, keys, idempotency, lists, and events with Stripe's
 * signatures. It simulates outages, slow responses, responses that are lost after success, and invalid responses.
 */
import { createHash, createHmac, randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { type Account, openAccount, toAccountJson, toCountryJson, toEndpointJson } from "./stripe-account.ts"
import { type Params, parseParams } from "./stripe-form.ts"
import type { Json } from "./stripe-objects.ts"
import { findRefusal, parseRequest } from "./stripe-rules.ts"
import { invalid, openStripeState, Refusal, type StripeState } from "./stripe-state.ts"

export const stripeKey = "sk_test_loopback_0123456789"
export const liveKey = "sk_live_loopback_0123456789"
export const webhookSecret = "whsec_loopback_0123456789"

export interface SentRequest {
  readonly method: string
  readonly path: string
  /** With the question mark; empty if there is none. */
  readonly query: string
  readonly body: string
}
interface StripeResponse {
  readonly status: number
  readonly body: Json
}
interface StoredResponse extends StripeResponse {
  readonly request: string
  readonly until: number
}

const matches = (object: Json, params: Params) => {
  const created = (params.created ?? {}) as Params
  return (
    ["customer", "payment_intent"].every((key) => params[key] === undefined || object[key] === params[key]) &&
    (created.gte === undefined || Number(object.created) >= Number(created.gte)) &&
    (created.lte === undefined || Number(object.created) <= Number(created.lte))
  )
}

/** Newest first, one page. */
const list = (all: ReadonlyArray<Json>, params: Params, url: string): Json => {
  const found = all.toReversed().filter((object) => matches(object, params))
  const start = params.starting_after === undefined ? 0 : found.findIndex(({ id }) => id === params.starting_after) + 1
  const limit = Number(params.limit ?? 10)
  if (!(limit >= 1 && limit <= 100)) throw invalid("Invalid limit: must be 1 to 100", { param: "limit" })
  const data = found.slice(start, start + limit)
  return { object: "list", url, has_more: start + limit < found.length, data }
}

const route = (state: StripeState, account: Account, method: string, path: string, params: Params): Json => {
  const isExpanded = params.expand !== undefined
  const at = path.slice("/v1/".length)
  const { action, id, kind, name } = parseRequest(method, path)
  const refusal = findRefusal(name, params)
  if (refusal !== undefined) throw invalid(refusal.message, { code: refusal.code, param: refusal.param })
  if (method === "POST" && at === "checkout/sessions") return state.createSession(params)
  if (method === "POST" && at === "payment_intents") return state.createIntent(params)
  if (method === "POST" && kind === "payment_methods" && action === "detach") return state.detach(id)
  if (method === "POST" && kind === "payment_intents" && action === "cancel") return state.cancel(id, params)
  if (method === "POST" && kind === "checkout/sessions" && action === "expire") return state.expire(id)
  if (method === "GET" && at === "account") return toAccountJson(account)
  if (method === "GET" && kind === "country_specs" && id === account.country) return toCountryJson(account)
  if (method === "GET" && at === "webhook_endpoints") return list(account.endpoints.map(toEndpointJson), params, path)
  if (method === "GET" && id === "" && kind in state.listed) {
    return list(state.listed[kind as keyof StripeState["listed"]](isExpanded), params, path)
  }
  if (method === "GET" && id !== "") {
    if (kind === "checkout/sessions") return state.session(id, isExpanded)
    if (kind === "payment_intents") return state.intent(id, isExpanded)
    if (kind === "payment_methods") return state.method(id)
    if (kind === "customers") return state.customer(id)
  }
  throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404)
}

const isPayment = (method: string, path: string) => method === "POST" && /\/(payment_intents|sessions)$/.test(path)

const readBody = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export const formatEventBody = (type: string, object: Json, now: number) =>
  JSON.stringify({
    id: `evt_${randomBytes(12).toString("hex")}`,
    object: "event",
    api_version: "2026-10-28.endive",
    created: Math.floor(now / 1000),
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type
  })

export const sign = (secret: string, body: string, now: number) => {
  const seconds = Math.floor(now / 1000)
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
}

/** The caller closes it. */
export const startStripeHost = async (now: () => number = Date.now) => {
  const faults = {
    /** `503`: an error of Stripe; `closed`: no response. */
    outage: "none" as "none" | "503" | "closed",
    slow_ms: 0,
    loseNextResponse: false,
    /** Headers that responses lack, for example behind a proxy. */
    missingHeaders: [] as ReadonlyArray<string>,
    /** The next response is not JSON. */
    invalidJson: false,
    /** Why Stripe refuses new payments, for example because the account may not accept them. */
    refusal: undefined as string | undefined,
    /** Kinds of objects that the restricted key may not use, such as `disputes`. */
    forbidden: new Set<string>(),
    /** Stripe no longer accepts the key, as after it was rolled. */
    wrongKey: false,
    /** The next payment is not made, and 500 is stored under its idempotency key. */
    failNext: false
  }
  const stored = new Map<string, StoredResponse>()
  const inProgress = new Set<string>()
  const sent: Array<SentRequest> = []
  const versions = new Set<string>()

  const respond = (method: string, path: string, params: Params): StripeResponse => {
    try {
      if (faults.failNext && method === "POST") {
        faults.failNext = false
        return { status: 500, body: { error: { type: "api_error", message: "An unknown error occurred" } } }
      }
      if (faults.forbidden.has(parseRequest(method, path).kind)) {
        throw invalid("The provided key 'rk_test_****' does not have the required permissions.", {}, 403)
      }
      if (faults.refusal !== undefined && isPayment(method, path)) throw invalid(faults.refusal)
      return { status: 200, body: route(state, account, method, path, params) }
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, body: { error: error.error } }
      throw error
    }
  }

  /** For a day, Stripe repeats the first response to the same key, even if it was an error. */
  const respondOnce = (
    key: string,
    method: string,
    path: string,
    body: string
  ): StripeResponse & { replayed: boolean } => {
    const request = createHash("sha256").update(`${method} ${path} ${body}`).digest("hex")
    const earlier = stored.get(key)
    if (earlier !== undefined && earlier.until > now()) {
      if (earlier.request === request) return { ...earlier, replayed: true }
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with.`
      return { status: 400, body: { error: { type: "idempotency_error", message } }, replayed: false }
    }
    const response = respond(method, path, parseParams(body))
    if (![409, 429].includes(response.status)) stored.set(key, { ...response, request, until: now() + 86_400_000 })
    return { ...response, replayed: false }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1")
    const method = request.method ?? "GET"
    const body = await readBody(request)
    sent.push({ method, path: url.pathname, query: url.search, body })
    versions.add(String(request.headers["stripe-version"]))
    if (faults.outage === "closed") return request.socket.destroy()
    const send = ({ body, status }: StripeResponse, headers: Record<string, string> = {}) => {
      const all = {
        "content-type": "application/json",
        date: new Date(now()).toUTCString(),
        "request-id": `req_${randomBytes(7).toString("hex")}`,
        "stripe-version": String(request.headers["stripe-version"]),
        ...headers
      }
      response.sendDate = false // Node would add the missing one
      return response
        .writeHead(
          status,
          Object.entries(all)
            .filter(([name]) => !faults.missingHeaders.includes(name))
            .flat()
        )
        .end(JSON.stringify(body))
    }
    if (faults.outage === "503") return send({ status: 503, body: { error: { type: "api_error", message: "Down" } } })
    const isKnown = [stripeKey, liveKey].includes(request.headers.authorization?.replace("Bearer ", "") ?? "")
    if (faults.wrongKey || !isKnown) {
      const message = "Invalid API Key provided: sk_test_****"
      return send({ status: 401, body: { error: { type: "invalid_request_error", message } } })
    }
    const key = request.headers["idempotency-key"]
    if (typeof key === "string" && inProgress.has(key)) {
      const message = "There is currently another in-progress request using this Idempotent Key."
      return send({
        status: 409,
        body: { error: { type: "idempotency_error", code: "idempotency_key_in_use", message } }
      })
    }
    if (typeof key === "string") inProgress.add(key)
    const { replayed, ...given } =
      typeof key === "string"
        ? respondOnce(key, method, url.pathname, body)
        : {
            ...respond(method, url.pathname, parseParams(method === "GET" ? url.search.slice(1) : body)),
            replayed: false
          }
    if (faults.slow_ms > 0) await sleep(faults.slow_ms)
    if (typeof key === "string") inProgress.delete(key)
    if (isPayment(method, url.pathname) && faults.loseNextResponse) {
      faults.loseNextResponse = false
      // cut off in the middle: if a connection closes without any response, the client retries once with the same key
      response.writeHead(given.status, { "content-type": "application/json", "content-length": 5000 })
      return response.write("{", () => request.socket.destroy())
    }
    if (faults.invalidJson) {
      faults.invalidJson = false
      return response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome to the hotel's network</h1>")
    }
    return send(given, replayed ? { "idempotent-replayed": "true" } : {})
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo // a server that listens on a port has an `AddressInfo`
  const url = `http://127.0.0.1:${port}`
  const state = openStripeState(now, () => url)
  const account = openAccount()

  return {
    url,
    state,
    account,
    faults,
    /** Method and path of each request since the last call. */
    takeRequests: () => sent.splice(0).map(({ method, path }) => `${method} ${path}`),
    takeWholeRequests: () => sent.splice(0),
    /** Requested versions of the API. */
    versions,
    /** Events since the last call, signed now, oldest first. */
    takeEvents: () =>
      state.events.splice(0).map(({ object, type }) => {
        const body = formatEventBody(type, object, now())
        return { type, body, signature: sign(webhookSecret, body, now()) }
      }),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
export type StripeHost = Awaited<ReturnType<typeof startStripeHost>>
