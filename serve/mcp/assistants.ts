/**
 * `/mcp`: the Model Context Protocol over streamable HTTP. This module checks the HTTP side of a request: origin, method,
 * key. `exchange.ts` handles the message; it is loaded with the first message, because loading the protocol library takes
 * 125 ms. Requests are stateless and contain the key, so any server can handle any request.
 */
import {
  accountSuspended,
  internal,
  ledgerUnavailable,
  malformedAuthorization,
  methodNotAllowed,
  missingAuthorization,
  originNotAllowed,
  unknownKey
} from "@larder/schemas"
import { Cause } from "effect"
import { type ApiResponse, type McpHandler, preflightHeaders, readCallerIds } from "../api/index.ts"
import { LedgerUnavailable, readBearerKey } from "../ledger/index.ts"
import type { AssistantNeeds, Exchange } from "./exchange.ts"

const allow = "POST, OPTIONS"

export const makeMcpHandler = (needs: AssistantNeeds): McpHandler => {
  const { ledger, origins, pipeline, report } = needs
  const { refuse } = pipeline
  let loading: Promise<Exchange> | undefined
  const loadExchange = () => {
    loading ??= import("./exchange.ts").then(
      ({ makeExchange }) => makeExchange(needs),
      (cause) => {
        loading = undefined // the next request tries again
        throw cause
      }
    )
    return loading
  }

  const respond = async (request: Request, isForbiddenOrigin: boolean, isOnDataHost: boolean): Promise<ApiResponse> => {
    const { headers, method } = request
    if (isForbiddenOrigin) return refuse(originNotAllowed)
    if (method === "OPTIONS") {
      const preflight = preflightHeaders(allow, headers.get("access-control-request-headers"))
      return pipeline.respondUncharged(204, "", preflight)
    }
    if (method !== "POST") return refuse({ ...methodNotAllowed, message: "Only POST is supported" }, { allow })
    const authorization = headers.get("authorization")
    if (authorization === null) return refuse(missingAuthorization)
    const token = readBearerKey(authorization)
    if (token === undefined) return refuse(malformedAuthorization)
    const key = await ledger.authenticate(token, Date.now())
    // a server may remember a key for a second, and answers to most messages are free, so nothing else would check it
    if (key === undefined || !(await ledger.isCurrent(key, Date.now()))) return refuse(unknownKey)
    if (key.isSuspended) return refuse(accountSuspended)
    return (await loadExchange())(request, { key, authorization, isOnDataHost, callerIds: readCallerIds(headers) })
  }

  const toErrorResponse = (request: Request) => (cause: unknown) => {
    // the ledger itself reports to the operator that it is unavailable
    if (cause instanceof LedgerUnavailable) return refuse(ledgerUnavailable)
    const response = refuse(internal)
    const about = { request_id: response.headers["x-request-id"], ...readCallerIds(request.headers) }
    report("an MCP request failed", about, Cause.die(cause))
    return response
  }

  return async (request, isOnDataHost) => {
    const origin = request.headers.get("origin")
    const isForbiddenOrigin = origin !== null && !isAllowedOrigin(origin, origins)
    const { body, headers, status, permit } = await respond(request, isForbiddenOrigin, isOnDataHost).catch(
      toErrorResponse(request)
    )
    const {
      "access-control-allow-origin": _anyOrigin,
      "access-control-expose-headers": exposed,
      "content-type": type,
      ...others
    } = headers
    const cors = {
      "access-control-allow-origin": origin ?? "",
      "access-control-expose-headers": `${exposed}, WWW-Authenticate`
    }
    return {
      status,
      body,
      permit,
      headers: {
        ...others,
        ...(body !== "" && type !== undefined && { "content-type": type }),
        ...(origin !== null && !isForbiddenOrigin && cors),
        vary: others.vary === undefined ? "Origin" : `Origin, ${others.vary}`
      }
    }
  }
}

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/**
 * Which web pages may call `/mcp`. A browser sends `Origin` with every POST; a program sends none and is accepted. A
 * page with a host name that was pointed at this machine (DNS rebinding) still sends its own origin and is rejected.
 * Allowed are `ownOrigins`, which come from settings and listeners, and pages of the caller's own machine, where
 * developer tools run. `Host` is not checked, because an attacker that rebinds a name also chooses `Host`. All callers need a
 * key anyway. If a listener accepts every address of its machine (`LARDER_HOST=0.0.0.0`), its own address is unknown: set
 * `LARDER_API_URL` so that pages of the API's own origin are accepted.
 */
export const isAllowedOrigin = (origin: string, ownOrigins: ReadonlySet<string>): boolean => {
  const url = URL.parse(origin)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin) return false
  return loopback.has(url.hostname) || ownOrigins.has(origin)
}
