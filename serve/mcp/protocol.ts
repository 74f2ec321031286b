/**
 * The protocol server of one HTTP request; it offers only tools. The library supports the current revision
 * (2026-07-28), and the earlier ones with a handshake (2025-11-25 back to 2024-10-07).
 */
import {
  type CallToolResult,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { instructions } from "./guidance.ts"

interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

export interface Tools {
  readonly list: () => ReadonlyArray<Tool>
  /** Rejects with a `ProtocolError` for an unknown tool. */
  readonly call: (call: ToolCall) => Promise<CallToolResult>
}

export const makeServer = (version: string, { call, list }: Tools): Server => {
  const server = new Server({ name: "larder", title: "Larder", version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler("tools/list", () => ({ tools: [...list()] }))
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    call({ name: params.name, arguments: params.arguments ?? {}, signal: mcpReq.signal })
  )
  return server
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
