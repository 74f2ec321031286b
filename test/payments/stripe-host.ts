/**
 * Stripe's API on this machine: its wire format over real HTTP, keys, idempotency, lists, and events that are signed as
 * Stripe signs them. It plays outages, slow answers, answers that are lost after success, and answers without sense.
 */
import { createHash, createHmac, randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { type Account, accountJson, countryJson, endpointJson, openAccount } from "./stripe-account.ts"
import { type Books, invalid, openBooks, Refusal } from "./stripe-books.ts"
import { type Params, paramsOf } from "./stripe-form.ts"
import type { Json } from "./stripe-objects.ts"
import { refusalOf, requestOf } from "./stripe-rules.ts"

export const stripeKey = "sk_test_loopback_0123456789"
export const liveKey = "sk_live_loopback_0123456789"
export const webhookSecret = "whsec_loopback_0123456789"

export interface Sent {
  readonly method: string
  readonly path: string
  /** With its question mark, where there is one. */
  readonly query: string
  readonly body: string
}
interface Answer {
  readonly status: number
  readonly body: Json
}
interface Kept extends Answer {
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

/** Newest first, a page at a time. */
const list = (all: ReadonlyArray<Json>, params: Params, url: string): Json => {
  const found = all.toReversed().filter((object) => matches(object, params))
  const start = params.starting_after === undefined ? 0 : found.findIndex(({ id }) => id === params.starting_after) + 1
  const limit = Number(params.limit ?? 10)
  if (!(limit >= 1 && limit <= 100)) throw invalid("Invalid limit: must be 1 to 100", { param: "limit" })
  const data = found.slice(start, start + limit)
  return { object: "list", url, has_more: start + limit < found.length, data }
}

const route = (books: Books, account: Account, method: string, path: string, params: Params): Json => {
  const isExpanded = params.expand !== undefined
  const at = path.slice("/v1/".length)
  const { action, id, kind, name } = requestOf(method, path)
  const wrong = refusalOf(name, params)
  if (wrong !== undefined) throw invalid(wrong.message, { code: wrong.code, param: wrong.param })
  if (method === "POST" && at === "checkout/sessions") return books.createSession(params)
  if (method === "POST" && at === "payment_intents") return books.createIntent(params)
  if (method === "POST" && kind === "payment_methods" && action === "detach") return books.detach(id)
  if (method === "POST" && kind === "payment_intents" && action === "cancel") return books.cancel(id, params)
  if (method === "POST" && kind === "checkout/sessions" && action === "expire") return books.expire(id)
  if (method === "GET" && at === "account") return accountJson(account)
  if (method === "GET" && kind === "country_specs" && id === account.country) return countryJson(account)
  if (method === "GET" && at === "webhook_endpoints") return list(account.endpoints.map(endpointJson), params, path)
  if (method === "GET" && id === "" && kind in books.listed) {
    return list(books.listed[kind as keyof Books["listed"]](isExpanded), params, path)
  }
  if (method === "GET" && id !== "") {
    if (kind === "checkout/sessions") return books.session(id, isExpanded)
    if (kind === "payment_intents") return books.intent(id, isExpanded)
    if (kind === "payment_methods") return books.method(id)
    if (kind === "customers") return books.customer(id)
  }
  throw invalid(`Unrecognized request URL (${method}: ${path}).`, {}, 404)
}

const isPayment = (method: string, path: string) => method === "POST" && /\/(payment_intents|sessions)$/.test(path)

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}

export const eventBodyOf = (type: string, object: Json, now: number) =>
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

export const signatureOf = (secret: string, body: string, now: number) => {
  const seconds = Math.floor(now / 1000)
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`
}

/** The caller closes it. */
export const startStripeHost = async (now: () => number = Date.now) => {
  const mishaps = {
    /** `503`: Stripe's own fault; `closed`: no answer at all. */
    outage: "none" as "none" | "503" | "closed",
    slow_ms: 0,
    loseNextAnswer: false,
    /** The next answer is no JSON. */
    nonsense: false,
    /** Why Stripe refuses new payments, such as an account that may not take them. */
    refuses: undefined as string | undefined,
    /** What the restricted key may not see or do, such as `disputes`. */
    forbidden: new Set<string>(),
    /** Stripe takes the key no more, as after it was rolled. */
    wrongKey: false,
    /** The next payment is not made, and 500 is kept under its idempotency key. */
    failNext: false
  }
  const kept = new Map<string, Kept>()
  const underWay = new Set<string>()
  const sent: Array<Sent> = []
  const versions = new Set<string>()

  const answer = (method: string, path: string, params: Params): Answer => {
    try {
      if (mishaps.failNext && method === "POST") {
        mishaps.failNext = false
        return { status: 500, body: { error: { type: "api_error", message: "An unknown error occurred" } } }
      }
      if (mishaps.forbidden.has(requestOf(method, path).kind)) {
        throw invalid("The provided key 'rk_test_****' does not have the required permissions.", {}, 403)
      }
      if (mishaps.refuses !== undefined && isPayment(method, path)) throw invalid(mishaps.refuses)
      return { status: 200, body: route(books, account, method, path, params) }
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, body: { error: error.error } }
      throw error
    }
  }

  /** Stripe answers the same key as it did first, for a day, also where it refused what was asked. */
  const idempotent = (key: string, method: string, path: string, body: string): Answer & { replayed: boolean } => {
    const request = createHash("sha256").update(`${method} ${path} ${body}`).digest("hex")
    const before = kept.get(key)
    if (before !== undefined && before.until > now()) {
      if (before.request === request) return { ...before, replayed: true }
      const message = `Keys for idempotent requests can only be used with the same parameters they were first used with.`
      return { status: 400, body: { error: { type: "idempotency_error", message } }, replayed: false }
    }
    const given = answer(method, path, paramsOf(body))
    if (![409, 429].includes(given.status)) kept.set(key, { ...given, request, until: now() + 86_400_000 })
    return { ...given, replayed: false }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1")
    const method = request.method ?? "GET"
    const body = await bodyOf(request)
    sent.push({ method, path: url.pathname, query: url.search, body })
    versions.add(String(request.headers["stripe-version"]))
    if (mishaps.outage === "closed") return request.socket.destroy()
    const send = ({ body, status }: Answer, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, {
          "content-type": "application/json",
          date: new Date(now()).toUTCString(),
          "request-id": `req_${randomBytes(7).toString("hex")}`,
          "stripe-version": String(request.headers["stripe-version"]),
          ...headers
        })
        .end(JSON.stringify(body))
    if (mishaps.outage === "503") return send({ status: 503, body: { error: { type: "api_error", message: "Down" } } })
    const isKnown = [stripeKey, liveKey].includes(request.headers.authorization?.replace("Bearer ", "") ?? "")
    if (mishaps.wrongKey || !isKnown) {
      const message = "Invalid API Key provided: sk_test_****"
      return send({ status: 401, body: { error: { type: "invalid_request_error", message } } })
    }
    const key = request.headers["idempotency-key"]
    if (typeof key === "string" && underWay.has(key)) {
      const message = "There is currently another in-progress request using this Idempotent Key."
      return send({
        status: 409,
        body: { error: { type: "idempotency_error", code: "idempotency_key_in_use", message } }
      })
    }
    if (typeof key === "string") underWay.add(key)
    const { replayed, ...given } =
      typeof key === "string"
        ? idempotent(key, method, url.pathname, body)
        : { ...answer(method, url.pathname, paramsOf(method === "GET" ? url.search.slice(1) : body)), replayed: false }
    if (mishaps.slow_ms > 0) await sleep(mishaps.slow_ms)
    if (typeof key === "string") underWay.delete(key)
    if (isPayment(method, url.pathname) && mishaps.loseNextAnswer) {
      mishaps.loseNextAnswer = false
      // cut off in the middle: the client asks once more, with the same key, where a connection closes without any answer
      response.writeHead(given.status, { "content-type": "application/json", "content-length": 5000 })
      return response.write("{", () => request.socket.destroy())
    }
    if (mishaps.nonsense) {
      mishaps.nonsense = false
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
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  const url = `http://127.0.0.1:${port}`
  const books = openBooks(now, () => url)
  const account = openAccount()

  return {
    url,
    books,
    account,
    mishaps,
    /** Requests since the last look. */
    asked: () => sent.splice(0).map(({ method, path }) => `${method} ${path}`),
    /** The same, whole. */
    sent: () => sent.splice(0),
    /** Of the API, that were asked for. */
    versions,
    /** Events since the last look, signed now, in the order in which they happened. */
    takeEvents: () =>
      books.happened.splice(0).map(({ object, type }) => {
        const body = eventBodyOf(type, object, now())
        return { type, body, signature: signatureOf(webhookSecret, body, now()) }
      }),
    close: () => {
      server.closeAllConnections()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
export type StripeHost = Awaited<ReturnType<typeof startStripeHost>>
