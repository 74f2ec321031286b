/**
 * The protocol's server for one exchange, or for one connection over stdio; it offers only tools. The library supports
 * the current revision (2026-07-28), and the earlier ones with a handshake (2025-11-25 back to 2024-10-07).
 */
import { type CallToolResult, type RequestId, Server, type Tool } from "@modelcontextprotocol/server"
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

export const protocolServer = (version: string, { call, list }: Tools): Server => {
  const server = new Server({ name: "larder", title: "Larder", version }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler("tools/list", async (_request, { mcpReq }) => ({ tools: [...(await list(mcpReq.signal))] }))
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) =>
    call({ name: params.name, arguments: params.arguments ?? {}, id: mcpReq.id, signal: mcpReq.signal })
  )
  return server
}
