/** The API over HTTP: passes calls of the endpoints to the request pipeline, and sends its responses. */
import { type ApiError, internal, methodNotAllowed, noSuchEndpoint, oauthNotSupported, openApi } from "@larder/schemas"
import type { CommodityModel } from "@larder/warehouse"
import { Cause } from "effect"
import { type EventHandler, H3, type H3Event } from "h3"
import { FastResponse } from "srvx"
import { isLoopbackUrl } from "../addresses.ts"
import { readCallerIds } from "./caller-ids.ts"
import { makeSharedBody } from "./encoding.ts"
import type { Limiter } from "./fairness/limiter.ts"
import { estimateRequestBytes } from "./fairness/request-memory.ts"
import type { PipelineNeeds, RequestPipeline } from "./pipeline.ts"
import { preflightHeaders } from "./preflight.ts"
import { type ApiResponse, makeSender, type Sender } from "./response.ts"
import type { Route } from "./route.ts"

/** The body that OAuth clients read, and show to people. */
const oauthErrorBody = ({ message }: ApiError) => JSON.stringify({ error: "access_denied", error_description: message })

/** An id with malformed percent-encoding stays unchanged; no record has such an id. */
const decodeId = (id: string) => {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

/** Compares the path as sent: URL parsers resolve dot segments and backslashes, and drop fragments. */
const makePathCheck = (path: string) => {
  const segments = path.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/?#\\\\]+")
  const exact = new RegExp(`^(?:(?i:https?)://[^/?#\\\\]*)?${segments}(?:\\?|$)`)
  return ({ runtime }: H3Event) => exact.test(runtime?.node?.req.url ?? "")
}

/** A data host without a port matches every port. */
const matchesDataHost = (dataHost: string | undefined, { url }: H3Event) =>
  dataHost !== undefined && (url.host === dataHost || url.hostname === dataHost)

/** Handles a request of an assistant. Never rejects. */
export type McpHandler = (request: Request, isOnDataHost: boolean) => Promise<ApiResponse>

/** The parts of the API that the pages of the docs use. */
export interface Listener extends Sender {
  /** Wraps the handler of a known path: only the exact path, only GET, and preflights without a key. */
  readonly get: (path: string, handler: (event: H3Event) => Promise<Response>) => EventHandler
  readonly respondUncharged: RequestPipeline["respondUncharged"]
  readonly refuse: (event: H3Event, error: ApiError) => Response | Promise<Response>
  /** Address of the API in the guides, if it is configured. */
  readonly publicUrl: string | undefined
  readonly getListenerUrl: () => string
  /** Whether the host of the request is a configured one or a loopback name. */
  readonly isAtOwnHost: (event: H3Event) => boolean
  /** Address of the console for a client that reached the API at this host; undefined if unknown. */
  readonly findConsoleUrl: (hostname: string | undefined) => string | undefined
  /** Notice about the bundled samples that are served now; undefined if there are none. */
  readonly sampleNotice: () => string | undefined
  /** The commodities that are served now. */
  readonly commodities: () => CommodityModel
}

interface ApiNeeds
  extends Pick<Listener, "publicUrl" | "getListenerUrl" | "findConsoleUrl" | "sampleNotice" | "commodities"> {
  readonly pipeline: RequestPipeline
  readonly routes: ReadonlyArray<Route>
  readonly assistants: McpHandler
  readonly docs: (app: H3, listener: Listener) => void
  readonly limiter: Limiter
  readonly report: PipelineNeeds["report"]
  readonly version: string
  /** Host of `{data_base_url}`: there, `/v1/commodities` without parameters returns pages. */
  readonly dataHost: string | undefined
}

export const makeApi = (needs: ApiNeeds) => {
  const { commodities, findConsoleUrl, dataHost, getListenerUrl, pipeline, publicUrl, sampleNotice } = needs
  const { respond, respondShared } = makeSender(needs.limiter)
  const refuse = (event: H3Event, error: ApiError, headers?: Readonly<Record<string, string>>) =>
    respond(event, pipeline.refuse(error, headers))

  /** A known path: only the exact path, only this method, and preflights. */
  const serve = (served: "GET" | "POST", path: string, handler: EventHandler): EventHandler => {
    const isExact = makePathCheck(path)
    const allow = `${served}, OPTIONS`
    return (event) => {
      const { headers, method } = event.req
      if (!isExact(event)) return refuse(event, noSuchEndpoint)
      if (method === served) return handler(event)
      if (method === "OPTIONS") {
        const preflight = preflightHeaders(allow, headers.get("access-control-request-headers"))
        return new FastResponse(null, { status: 204, headers: pipeline.respondUncharged(204, "", preflight).headers })
      }
      return refuse(event, { ...methodNotAllowed, message: `Only ${served} is served here` }, { allow })
    }
  }
  const get: Listener["get"] = (path, handler) => serve("GET", path, handler)

  const serveRoute = (route: Route) =>
    get(route.endpoint.path, async (event) =>
      respond(
        event,
        await pipeline.handle({
          route,
          id: decodeId(event.context.params?.id ?? ""),
          query: event.url.searchParams,
          authorization: event.req.headers.get("authorization"),
          isOnDataHost: matchesDataHost(dataHost, event),
          signal: event.req.signal,
          requestBytes: () => estimateRequestBytes(event.runtime?.node?.req.rawHeaders ?? []),
          callerIds: () => readCallerIds(event.req.headers)
        })
      )
    )

  const document = makeSharedBody(JSON.stringify(openApi(needs.version)))
  // by default, h3 responds to malformed paths and its own errors in another format
  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: (error, event) => {
      const response = pipeline.refuse(internal)
      const request_id = response.headers["x-request-id"]
      const about = { request_id, path: event.url.pathname, ...readCallerIds(event.req.headers) }
      if (error.unhandled) needs.report("a response failed", about, Cause.die(error.cause))
      return respond(event, response)
    }
  })
  for (const route of needs.routes) app.all(route.endpoint.path, serveRoute(route))
  app.all(
    "/openapi.json",
    get("/openapi.json", (event) => respondShared(event, document, pipeline.respondUncharged(200, "")))
  )
  const isMcp = makePathCheck("/mcp")
  app.all("/mcp", async (event) => {
    if (!isMcp(event)) return refuse(event, noSuchEndpoint)
    const response = await needs.assistants(event.req, matchesDataHost(dataHost, event))
    return response.status === 204 ? new FastResponse(null, response) : respond(event, response)
  })
  app.all(
    "/register",
    serve("POST", "/register", (event) =>
      respond(event, { ...pipeline.refuse(oauthNotSupported), body: oauthErrorBody(oauthNotSupported) })
    )
  )
  const isAtOwnHost = (event: H3Event) =>
    isLoopbackUrl(`http://${event.url.host}`) ||
    matchesDataHost(dataHost, event) ||
    event.url.hostname === new URL(getListenerUrl()).hostname
  const { respondUncharged } = pipeline
  needs.docs(app, {
    get,
    respond,
    respondShared,
    respondUncharged,
    refuse,
    publicUrl,
    getListenerUrl,
    isAtOwnHost,
    findConsoleUrl,
    sampleNotice,
    commodities
  })
  app.all("/**", (event) => refuse(event, noSuchEndpoint))
  return app
}
