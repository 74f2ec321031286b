/**
 * The protocol server of one HTTP request, or of one connection over stdio; it offers only tools. The library supports
 * the current revision (2026-07-28), and the earlier ones with a handshake (2025-11-25 back to 2024-10-07).
 */
import {
  type CallToolResult,
  type RequestId,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { Predicate } from "effect"
import { instructions } from "./guidance.ts"

export interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** JSON-RPC id of the request. */
  readonly id: RequestId
  readonly signal: AbortSignal
}

export interface Tools {
  readonly list: (signal: AbortSignal) => Promise<ReadonlyArray<Tool>>
  /** Rejects with a `ProtocolError` for an unknown tool. */
  readonly call: (call: ToolCall) => Promise<CallToolResult>
}

export const makeServer = (version: string, { call, list }: Tools): Server => {
  const server = new Server({ name: "larder", title: "Larder", version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler("tools/list", async (_request, { mcpReq }) => ({ tools: [...(await list(mcpReq.signal))] }))
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    call({ name: params.name, arguments: params.arguments ?? {}, id: mcpReq.id, signal: mcpReq.signal })
  )
  return server
}

/** The only revision with batches, and the revision of clients that name none. */
const revisionWithBatches = "2025-03-26"

const maxMessages = 100

/**
 * Responses are matched to calls by id. If two calls had the same id, both would be charged, but only one response
 * would arrive.
 */
export const checkBatch = (message: unknown, revision: string | null): string | undefined => {
  if (!Array.isArray(message)) return undefined
  if ((revision ?? revisionWithBatches) !== revisionWithBatches) return `Revision ${revision} has no batches`
  if (message.length > maxMessages) return `A batch has at most ${maxMessages} messages`
  const ids = message.filter((item) => Predicate.hasProperty(item, "id")).map(({ id }) => id)
  return new Set(ids).size < ids.length ? "Two messages of the batch have the same id" : undefined
}

/** Resolves when the caller disconnects. */
const waitForDisconnect = ({ signal }: Request) =>
  new Promise<Response>((resolve) => {
    const disconnect = () => resolve(new Response(null, { status: 499 }))
    if (signal.aborted) disconnect()
    else signal.addEventListener("abort", disconnect, { once: true })
  })

/** The library requires both types, although it is set to respond with JSON. It reads the body from the parsed message. */
const acceptBoth = ({ headers, url }: Request) => {
  const both = new Headers(headers)
  both.set("accept", "application/json, text/event-stream")
  return new Request(url, { method: "POST", headers: both })
}

/**
 * Responds to one request of the revisions with a handshake. The response is one JSON body, and its status is sent after
 * the last charge is durable: by default, the library would open an event stream and send a 200 before the first read.
 * Then closes the server, which also cancels the calls of a caller that has disconnected.
 */
export const respondLegacy = async (server: Server, request: Request, message: unknown): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await Promise.race([
      transport.handleRequest(acceptBoth(request), { parsedBody: message }),
      waitForDisconnect(request)
    ])
  } finally {
    await server.close()
  }
}
