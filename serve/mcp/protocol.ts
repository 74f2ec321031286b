/**
 * The protocol's server for one exchange, or for one connection over stdio; it offers only tools. The library supports
 * the current revision (2026-07-28), and the earlier ones with a handshake (2025-11-25 back to 2024-10-07).
 */
import {
  type CallToolResult,
  type RequestId,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
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

/** The revision of clients that name none; the only revision with batches. */
const revisionWithBatches = "2025-03-26"

interface Named {
  readonly id?: unknown
}
const isNamed = (message: unknown): message is Named =>
  typeof message === "object" && message !== null && "id" in message

const mostMessages = 100

/**
 * Answers are matched to calls by id. If two calls had the same id, both would be charged, but only one answer would
 * arrive.
 */
export const checkBatch = (message: unknown, revision: string | null): string | undefined => {
  if (!Array.isArray(message)) return undefined
  if ((revision ?? revisionWithBatches) !== revisionWithBatches) return `Revision ${revision} has no batches`
  if (message.length > mostMessages) return `A batch has at most ${mostMessages} messages`
  const ids = message.filter(isNamed).map(({ id }) => id)
  return new Set(ids).size < ids.length ? "Two messages of the batch have the same id" : undefined
}

/** Resolves when the caller disconnects; no answer can be sent then. */
const gone = ({ signal }: Request) =>
  new Promise<Response>((resolve) => {
    const leave = () => resolve(new Response(null, { status: 499 }))
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
  })

/**
 * Answers one request of the protocol revisions with a handshake, with one JSON body: the status is sent after the last
 * charge is durable. By default, the library would open an event stream, and send a 200, before the first call is read.
 *
 * Closes the server, which also ends the calls of a caller that has disconnected.
 */
export const answerLegacy = async (server: Server, request: Request, message: unknown): Promise<Response> => {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: message }), gone(request)])
  } finally {
    await server.close()
  }
}
