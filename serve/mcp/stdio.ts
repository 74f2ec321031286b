/** The protocol over stdin and stdout, until the client closes stdin. stdout carries messages and nothing else. */
import { Transform } from "node:stream"
import { isSpecType, ProtocolErrorCode, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import { readMessage } from "./messages.ts"
import { protocolServer } from "./protocol-server.ts"
import { type Remote, remoteTools } from "./remote.ts"

const refusal = (id: string | number, problem: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: { code: ProtocolErrorCode.ParseError, message: `Parse error: ${problem}` }
  })

/** Lets lines through that are messages. Of the others `refuse` is told, with the id where it can be read. */
export const messageLines = (refuse: (problem: string, id: string | number | null) => void): Transform => {
  let rest = Buffer.alloc(0)
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      const bytes = Buffer.concat([rest, piece])
      const end = bytes.lastIndexOf("\n") + 1
      rest = bytes.subarray(end)
      for (const line of bytes.toString("utf8", 0, end).split("\n")) {
        if (line.trim() === "") continue
        const judged = readMessage(line)
        if ("problem" in judged) refuse(judged.problem, judged.id)
        else if (isSpecType.JSONRPCMessage(judged.message)) this.push(`${line}\n`)
        else refuse("it is no message of JSON-RPC 2.0", null)
      }
      done(rest.length > STDIO_DEFAULT_MAX_BUFFER_SIZE ? new Error("A line on stdin is too long") : null)
    }
  })
}

/** Resolves when the client has gone; `report` hears what a client sent that is no message. */
export const serveOverStdio = (remote: Remote, report: (problem: string) => void): Promise<void> =>
  new Promise((resolve) => {
    const lines = messageLines((problem, id) => {
      report(`A line on stdin was left out: ${problem}`)
      if (id !== null) process.stdout.write(`${refusal(id, problem)}\n`)
    })
    const transport = new StdioServerTransport(process.stdin.pipe(lines))
    const tools = remoteTools(remote)
    serveStdio(() => protocolServer(remote.version, tools), {
      transport,
      maxSubscriptions: 0,
      onerror: ({ message }) => report(message)
    })
    const close = transport.onclose
    transport.onclose = () => {
      close?.()
      process.stdin.destroy()
      resolve()
    }
  })
