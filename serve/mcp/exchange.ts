/**
 * Handles one HTTP request of the protocol, with a valid key and one message. The protocol library responds with the
 * tools that the key's scopes allow, and a tool call goes through the request pipeline. Requests share nothing: a call
 * is cancelled by closing its connection.
 */
import { type ApiError, tooManyInFlight } from "@larder/schemas"
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  readRequestBody
} from "@modelcontextprotocol/server"
import { Cause, Option, Schema } from "effect"
import { parseAccept } from "hono/utils/accept"
import {
  type ApiResponse,
  type CallerIds,
  callerDisconnected,
  errorHeaders,
  type Limiter,
  type Permit,
  type PipelineNeeds,
  type RequestPipeline,
  type Route
} from "../api/index.ts"
import type { ApiKeyView, LedgerAccess } from "../ledger/index.ts"
import { readArguments } from "./arguments.ts"
import { readMessage } from "./messages.ts"
import { makeServer, respondLegacy } from "./protocol.ts"
import { makeBodies, makeResult } from "./results.ts"
import { makeTools } from "./tools.ts"

export interface AssistantNeeds {
  readonly pipeline: RequestPipeline
  readonly routes: ReadonlyArray<Route>
  readonly ledger: Pick<LedgerAccess, "authenticate" | "isCurrent" | "remaining">
  readonly limiter: Limiter
  /** Data headers of the live generation, for responses that are not about one data set. */
  readonly dataHeaders: () => Readonly<Record<string, string>>
  readonly report: PipelineNeeds["report"]
  readonly version: string
  /** Public address of the API, for links in responses. */
  readonly publicUrl: string | undefined
  /** Origins of the API and the console. The set grows while the listeners open. */
  readonly origins: ReadonlySet<string>
}

interface Caller {
  readonly key: ApiKeyView
  readonly authorization: string | null
  readonly isOnDataHost: boolean
  readonly callerIds: CallerIds
}

export type Exchange = (request: Request, caller: Caller) => Promise<ApiResponse>

/** A message with a hundred long names, a cursor and the client's data about itself is many times smaller. */
const maxMessageBytes = 256 * 1024

/** A longer message waits for a step of the event loop, because it takes milliseconds to parse. */
const smallMessageLength = 16 * 1024

const makeErrorResponse = (status: number, code: number, message: string, id: string | number | null = null) =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id }, { status })

/** A client without the header, or with an empty one, accepts everything. */
const acceptsJson = (accept: string | null) => {
  const weights = new Map(parseAccept((accept || "*/*").toLowerCase()).map(({ q, type }) => [type, q]))
  return (weights.get("application/json") ?? weights.get("application/*") ?? weights.get("*/*") ?? 0) > 0
}

/** The headers of the API's response to a call that `/mcp` sends, too. */
const callHeaders: ReadonlySet<string> = new Set([
  "x-request-id",
  "x-data-version",
  "x-data-origin",
  "x-credits-charged",
  "x-credits-remaining"
])

const selectCallHeaders = ({ headers }: ApiResponse): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => callHeaders.has(name)))

const ToolCallMessage = Schema.Struct({
  method: Schema.Literal("tools/call"),
  params: Schema.Struct({
    name: Schema.String,
    arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
  })
})
const decodeToolCall = Schema.decodeUnknownOption(ToolCallMessage)

/** State of one request. */
interface Progress {
  readonly bodies: ReturnType<typeof makeBodies>
  /** What the protocol's library reports: mistakes of the caller, and our own. */
  readonly faults: Array<Error>
  /** The API's response, if the message is a call. */
  result?: ApiResponse
  permit?: Permit
}

/** A response is in memory three times: the data, and two copies, because MCP sends it as text and as a value. */
const memoryFactor = 3
/** A message of many empty objects takes fourteen times its bytes: the bytes, the text, and above all the values. */
const messageMemoryFactor = 15

export const makeExchange = (needs: AssistantNeeds): Exchange => {
  const { dataHeaders, ledger, pipeline, publicUrl, report, routes, limiter, version } = needs
  const tools = makeTools(routes)
  const routesByTool = new Map(tools.map(({ route, tool }) => [tool.name, route]))
  const listBytes = JSON.stringify(tools.map(({ tool }) => tool)).length

  const makeServerFor = (
    { authorization, callerIds, key, isOnDataHost }: Caller,
    acquired: Permit,
    progress: Progress
  ) => {
    const setBytes = (bytes: number) => acquired.setBytes(bytes * memoryFactor)
    const permit: Permit = { ...acquired, setBytes, release: () => {} } // `acquired` is released with the whole response
    return makeServer(version, {
      list: () => {
        permit.setBytes(listBytes)
        return tools.flatMap(({ route, tool }) => (key.scopes.has(route.endpoint.scope) ? [tool] : []))
      },
      call: async ({ arguments: given, name, signal }) => {
        const route = routesByTool.get(name)
        if (route === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
        const call = readArguments(route, given)
        const result = await pipeline.handle({
          ...call,
          authorization,
          isOnDataHost,
          permit,
          signal,
          requestBytes: () => 0,
          callerIds: () => callerIds
        })
        progress.result = result
        if (result.status === 499)
          throw new ProtocolError(ProtocolErrorCode.InternalError, "The call was cancelled: nothing was charged")
        return makeResult(progress.bodies.replace(result))
      }
    })
  }

  const expectedBytes = (message: unknown, isOnDataHost: boolean): number => {
    const { params } = Option.getOrElse(decodeToolCall(message), () => ({ params: undefined }))
    const route = params && routesByTool.get(params.name)
    return route === undefined
      ? 0
      : pipeline.expectedBytes({ ...readArguments(route, params?.arguments ?? {}), isOnDataHost })
  }

  const respond = async (request: Request, caller: Caller, progress: Progress): Promise<Response | ApiError> => {
    if (!isJsonContentType(request.headers.get("content-type")))
      return makeErrorResponse(415, -32_000, "Unsupported Media Type: Content-Type must be application/json")
    if (!acceptsJson(request.headers.get("accept")))
      return makeErrorResponse(406, -32_000, "Not Acceptable: responses are application/json, which Accept excludes")
    const body = await readRequestBody(request, maxMessageBytes).catch(() => undefined)
    if (body === undefined) return makeErrorResponse(400, -32_700, "Parse error: the body was cut off")
    if (body.tooLarge) return makeErrorResponse(413, -32_000, `A message has at most ${maxMessageBytes} bytes`)
    if (body.text.length > smallMessageLength) await limiter.step(caller.key.account_id, "read")
    if (request.signal.aborted) return callerDisconnected
    const parsed = readMessage(body.text)
    if ("problem" in parsed) return makeErrorResponse(400, -32_700, `Parse error: ${parsed.problem}`, parsed.id)
    const { message } = parsed
    // the library would accept a list in one of the earlier revisions
    if (Array.isArray(message)) return makeErrorResponse(400, -32_600, "Invalid request: send one message per request")
    const permit = await limiter.acquire(
      caller.key,
      expectedBytes(message, caller.isOnDataHost) * memoryFactor,
      request.signal,
      () => Buffer.byteLength(body.text) * messageMemoryFactor
    )
    if (permit === "too many in flight") return tooManyInFlight
    if (permit === "disconnected") return callerDisconnected
    progress.permit = permit
    await limiter.step(permit.account, "read")
    const newServer = () => makeServerFor(caller, permit, progress)
    if (await isLegacyRequest(request, message)) return respondLegacy(newServer(), request, message)
    const { fetch } = createMcpHandler(newServer, {
      legacy: "reject",
      maxSubscriptions: 0, // a changed key takes effect in the next list, without a notification
      onerror: (error) => progress.faults.push(error)
    })
    return fetch(request, { parsedBody: message })
  }

  return async (request, caller) => {
    const progress: Progress = { bodies: makeBodies(), faults: [] }
    try {
      const response = await respond(request, caller, progress)
      const keyHeaders = {
        ...dataHeaders(),
        "x-credits-charged": "0",
        "x-credits-remaining": String(ledger.remaining(caller.key, Date.now()))
      }
      if (!(response instanceof Response)) return pipeline.refuse(response, keyHeaders)
      const code = response.status < 500 ? "protocol_error" : "internal"
      const final = pipeline.respondUncharged(response.status, progress.bodies.insert(await response.text()), {
        ...(response.status >= 400 && errorHeaders(code, publicUrl)),
        ...keyHeaders,
        ...(progress.result !== undefined && selectCallHeaders(progress.result))
      })
      // the response states the caller's mistakes; our own faults are reported to the operator
      if (response.status >= 500) {
        const about = { request_id: final.headers["x-request-id"], ...caller.callerIds }
        report("an MCP request failed", about, Cause.fail(progress.faults))
      }
      return { ...final, permit: progress.permit }
    } catch (cause) {
      progress.permit?.release()
      throw cause
    }
  }
}
