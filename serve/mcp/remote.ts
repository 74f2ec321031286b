/**
 * The tools of a running API, called over HTTP at its `/mcp` with the key of this program's user. Cancelling a call
 * closes its request. The key is sent only in the header.
 */
import { ErrorBody } from "@larder/schemas"
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isCallToolResult,
  isJSONRPCResultResponse,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  ProtocolErrorCode
} from "@modelcontextprotocol/server"
import { Option, Schema } from "effect"
import type { ApiResponse } from "../api/index.ts"
import { parseJson } from "./messages.ts"
import type { Tools } from "./protocol.ts"
import { makeResult } from "./results.ts"

export interface Remote {
  /** Address of the API, without a trailing slash. */
  readonly url: string
  readonly key: string
  readonly version: string
}

interface Message {
  readonly method: "tools/list" | "tools/call"
  readonly params: Readonly<Record<string, unknown>>
  readonly name?: string
  readonly signal: AbortSignal
}

/** In this protocol revision, requests are stateless, and each response is one JSON body. */
const revision = "2026-07-28"

const decodeRefusal = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

/** Also matches an error without an id, which a server sends if it could not read the request. */
const ProtocolRefusal = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  error: Schema.Struct({ code: Schema.Int, message: Schema.String, data: Schema.optionalKey(Schema.Unknown) })
})
const decodeProtocolRefusal = Schema.decodeUnknownOption(ProtocolRefusal)

const makeFailure = (message: string) => new ProtocolError(ProtocolErrorCode.InternalError, message)

/** The failure below HTTP, such as ECONNREFUSED; it contains no header. */
const findReason = (error: unknown) => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(cause instanceof Error)) return String(cause)
  return "code" in cause ? String(cause.code) : cause.message
}

/** Reasons why no connection was made, including TLS. After any other failure, the server may have read the request. */
const notConnected =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|.*(TLS|SSL|CERT|UNABLE_TO_).*)$/

/** The message of a refusal without a protocol message: a wrong key, or a server that is overloaded or has failed. */
const findRefusal = ({ body, status }: Pick<ApiResponse, "body" | "status">): string | undefined => {
  if (status !== 401 && status < 500) return undefined
  return Option.getOrUndefined(decodeRefusal(body))?.error.message
}

export const makeRemoteTools = ({ key, url, version }: Remote): Tools => {
  const send = async ({ method, name, params, signal }: Message): Promise<ApiResponse> => {
    const _meta = {
      [PROTOCOL_VERSION_META_KEY]: revision,
      [CLIENT_INFO_META_KEY]: { name: "larder-serve mcp", version },
      [CLIENT_CAPABILITIES_META_KEY]: {}
    }
    try {
      const response = await fetch(`${url}/mcp`, {
        method: "POST",
        redirect: "error",
        signal,
        headers: {
          authorization: `Bearer ${key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": revision,
          "mcp-method": method,
          ...(name !== undefined && { "mcp-name": name })
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } })
      })
      return { status: response.status, body: await response.text(), headers: Object.fromEntries(response.headers) }
    } catch (error) {
      throw makeFailure(describeFailure(findReason(error), method))
    }
  }

  const describeFailure = (reason: string, method: Message["method"]) => {
    if (reason === "unexpected redirect") return `${url}/mcp redirects elsewhere. Is it the address of the API?`
    if (notConnected.test(reason))
      return `The API at ${url} cannot be reached (${reason}). Start it, or set another address with --url.`
    const charge = method === "tools/call" ? " The call may have been charged." : ""
    return `The connection to the API at ${url} broke (${reason}).${charge}`
  }

  const readResult = ({ body, status }: ApiResponse): unknown => {
    const message = parseJson(body)?.value
    if (isJSONRPCResultResponse(message)) return message.result
    const { error } = Option.getOrElse(decodeProtocolRefusal(message), () => ({ error: undefined }))
    if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data)
    const refusal = findRefusal({ status, body })
    if (refusal !== undefined) throw makeFailure(refusal)
    if (status >= 500)
      throw makeFailure(`${url}/mcp returned status ${status}, maybe from a proxy. A call may have been charged.`)
    throw makeFailure(`${url}/mcp returned status ${status} with an unknown body. Is it the address of the API?`)
  }

  return {
    call: async ({ arguments: given, name, signal }) => {
      // the name is also sent in a header
      if (!/^[\w.-]+$/.test(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
      const response = await send({ method: "tools/call", name, params: { name, arguments: given }, signal })
      if (findRefusal(response) !== undefined) return makeResult(response)
      const result = readResult(response)
      if (!isCallToolResult(result)) throw makeFailure(`${url}/mcp returned something that is not a result of a tool`)
      const { _meta, content, isError, structuredContent } = result
      return { _meta, content, structuredContent, ...(isError !== undefined && { isError }) }
    },
    list: async (signal) => {
      const result = readResult(await send({ method: "tools/list", params: {}, signal }))
      if (!isSpecType.ListToolsResult(result))
        throw makeFailure(`${url}/mcp returned something that is not a list of tools`)
      return result.tools
    }
  }
}
