/** The protocol over stdin and stdout, until the client closes stdin. stdout carries only messages. */
import type { Readable, Writable } from "node:stream"
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isSpecType,
  type JSONRPCMessage,
  ProtocolErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type Transport
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { readMessage } from "./messages.ts"
import { makeServer } from "./protocol.ts"
import { makeRemoteTools, type Remote } from "./remote.ts"

/** Calls `onLine` with each line that is not empty, and `onEnd` after the last line or a line that is too long. */
const readLines = (input: Readable, onLine: (text: string) => void, onEnd: (problem?: Error) => void) => {
  let rest = Buffer.alloc(0)
  const emitLines = (text: string) => {
    for (const line of text.split("\n")) if (line.trim() !== "") onLine(line)
  }
  let problem: Error | undefined
  input
    .on("data", (chunk: Buffer) => {
      const bytes = Buffer.concat([rest, chunk])
      const end = bytes.lastIndexOf("\n") + 1
      rest = bytes.subarray(end)
      emitLines(bytes.toString("utf8", 0, end))
      if (rest.length > STDIO_DEFAULT_MAX_BUFFER_SIZE) input.destroy(new Error("A line on stdin is too long"))
    })
    .once("end", () => emitLines(rest.toString()))
    .on("error", (error) => {
      problem = error
    })
    .once("close", () => onEnd(problem))
}

/**
 * A transport with one message per line. When the client closes stdin, the library's own transport aborts pending
 * requests; while stdout is full, it adds two listeners for each response. This transport closes after it has responded
 * to every request that it has read. It reports each line that is not a message. If the id of such a line can be read,
 * the client gets an error with this id.
 */
const makeLineTransport = (input: Readable, output: Writable, report: (problem: string) => void): Transport => {
  /** Ids of requests without a response. If two requests wrongly have the same id, both get a response. */
  const pending: Array<unknown> = []
  let isAtEnd = false
  let isClosed = false

  const write = (message: JSONRPCMessage) =>
    new Promise<void>((resolve, reject) => {
      output.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    })
  const close = async () => {
    if (isClosed) return
    isClosed = true
    input.destroy()
    transport.onclose?.()
  }
  const closeWhenDone = () => {
    if (isAtEnd && pending.length === 0) close()
  }
  const settle = (id: unknown) => {
    const index = pending.indexOf(id)
    if (index >= 0) pending.splice(index, 1)
    closeWhenDone()
  }
  const respond = (message: JSONRPCMessage & { readonly id?: unknown }) =>
    write(message).finally(() => settle(message.id))
  const refuse = (problem: string, id: string | number | null) => {
    report(`A line on stdin was ignored: ${problem}`)
    if (id === null) return
    const error = { code: ProtocolErrorCode.ParseError, message: `Parse error: ${problem}` }
    pending.push(id)
    respond({ jsonrpc: "2.0", id, error }).catch(() => undefined) // an error of stdout closes the connection anyway
  }
  const receive = (line: string) => {
    const parsed = readMessage(line)
    if ("problem" in parsed) return refuse(parsed.problem, parsed.id)
    const { message } = parsed
    if (!isSpecType.JSONRPCMessage(message)) return refuse("it is not a message of JSON-RPC 2.0", null)
    if (isJSONRPCRequest(message)) pending.push(message.id)
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled")
      settle(message.params?.requestId) // a cancelled request gets no response
    transport.onmessage?.(message)
  }

  const transport: Transport = {
    start: async () => {
      output.on("error", close) // the client has disconnected
      readLines(input, receive, (problem) => {
        if (problem !== undefined) transport.onerror?.(problem)
        isAtEnd = true
        closeWhenDone()
      })
    },
    send: async (message) => {
      if (isClosed) throw new Error("The connection is closed")
      await ("method" in message ? write(message) : respond(message))
    },
    close
  }
  return transport
}

/** Resolves when the client disconnects. `report` receives problems, such as a line that is not a message. */
export const serveOverStdio = (remote: Remote, report: (problem: string) => void): Promise<void> =>
  new Promise((resolve) => {
    const transport = makeLineTransport(process.stdin, process.stdout, report)
    const tools = makeRemoteTools(remote)
    serveStdio(() => makeServer(remote.version, tools), {
      transport,
      maxSubscriptions: 0,
      onerror: ({ message }) => report(message)
    })
    const close = transport.onclose
    transport.onclose = () => {
      close?.()
      resolve()
    }
  })
