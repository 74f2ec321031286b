/**
 * The tools of a running API, called over HTTP at its `/mcp` with the key of this program's user. The server provides
 * the list and answers the calls; cancelling a call closes its request. The key is sent only in the header.
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
import type { ToolCall, Tools } from "./protocol.ts"
import { makeResult } from "./results.ts"

export interface Remote {
  /** Address of the API, without a trailing slash. */
  readonly url: string
  readonly key: string
  readonly version: string
}

interface Sent {
  readonly method: "tools/list" | "tools/call"
  readonly params: Readonly<Record<string, unknown>>
  readonly name?: string
  readonly signal: AbortSignal
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** Protocol revision used with the server: requests are stateless, and each is answered with one JSON body. */
const revision = "2026-07-28"

const decodeRefusal = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

/** Also matches an error without an id, which a server sends when it could not read the request. */
const ProtocolRefusal = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  error: Schema.Struct({ code: Schema.Int, message: Schema.String, data: Schema.optionalKey(Schema.Unknown) })
})
const decodeProtocolRefusal = Schema.decodeUnknownOption(ProtocolRefusal)

const failure = (message: string) => new ProtocolError(ProtocolErrorCode.InternalError, message)

/** The failure below HTTP, such as ECONNREFUSED; it contains no header. */
const reasonOf = (cause: unknown) => {
  const below = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  if (!(below instanceof Error)) return String(below)
  return "code" in below ? String(below.code) : below.message
}

/**
 * Reasons that mean that no connection was made, TLS included. After any other, the server may have read the request.
 */
const neverMade =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|.*(TLS|SSL|CERT|UNABLE_TO_).*)$/

/** A refusal of `/mcp` itself, without a protocol message: a wrong key, or a server that cannot answer now. */
const refusalIn = ({ status, text }: Pick<Reply, "status" | "text">): string | undefined => {
  if (status !== 401 && status < 500) return undefined
  return Option.getOrUndefined(decodeRefusal(text))?.error.message
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const remoteTools = ({ key, url, version }: Remote): Tools => {
  const send = async ({ method, name, params, signal }: Sent): Promise<Reply> => {
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
      return { status: response.status, text: await response.text(), headers: Object.fromEntries(response.headers) }
    } catch (cause) {
      throw failure(brokenBy(reasonOf(cause), method))
    }
  }

  const brokenBy = (reason: string, method: Sent["method"]) => {
    if (reason === "unexpected redirect") return `${url}/mcp leads elsewhere. Is it the address of the API?`
    if (neverMade.test(reason))
      return `The API at ${url} cannot be reached (${reason}). Start it, or name another with --url.`
    const charge = method === "tools/call" ? " The call may have been charged." : ""
    return `The connection to the API at ${url} broke (${reason}).${charge}`
  }

  const answerOf = ({ status, text }: Reply): unknown => {
    const message = parsed(text)
    if (isJSONRPCResultResponse(message)) return message.result
    const { error } = Option.getOrElse(decodeProtocolRefusal(message), () => ({ error: undefined }))
    if (error !== undefined) throw new ProtocolError(error.code, error.message, error.data)
    const refusal = refusalIn({ status, text })
    if (refusal !== undefined) throw failure(refusal)
    if (status >= 500)
      throw failure(`${url}/mcp answered ${status}, from a proxy perhaps. A call may have been charged.`)
    throw failure(`${url}/mcp answered ${status} in a way that Larder does not. Is it the address of the API?`)
  }

  const call = async ({ arguments: given, name, signal }: ToolCall) => {
    // the name is also sent in a header
    if (!/^[\w.-]+$/.test(name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
    const reply = await send({ method: "tools/call", name, params: { name, arguments: given }, signal })
    if (refusalIn(reply) !== undefined) return makeResult({ ...reply, body: reply.text })
    const result = answerOf(reply)
    if (!isCallToolResult(result)) throw failure(`${url}/mcp answered with something that is no result of a tool`)
    const { _meta, content, isError, structuredContent } = result
    return { _meta, content, structuredContent, ...(isError !== undefined && { isError }) }
  }

  return {
    call,
    list: async (signal) => {
      const result = answerOf(await send({ method: "tools/list", params: {}, signal }))
      if (!isSpecType.ListToolsResult(result))
        throw failure(`${url}/mcp answered with something that is no list of tools`)
      return result.tools
    }
  }
}
