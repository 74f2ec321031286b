/** Requests as bytes on a socket, for requests that no HTTP client sends. */

import { once } from "node:events"
import { STATUS_CODES } from "node:http"
import { connect, type Socket } from "node:net"
import type { Reply } from "./check-response.ts"

/** Milliseconds; a response that takes longer is a failure. */
const maxWait = 60_000

const open = async (api: string): Promise<Socket> => {
  const { hostname, port } = new URL(api)
  const socket = connect(Number(port), hostname)
  await once(socket, "connect")
  return socket
}

const exchange = (socket: Socket, bytes: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    socket.write(bytes)
    const pieces: Array<Buffer> = []
    socket.setTimeout(maxWait, () => socket.destroy(new Error(`the response did not end within ${maxWait} ms`)))
    socket.on("data", (piece) => pieces.push(piece))
    socket.on("error", (error) => (pieces.length > 0 ? undefined : reject(error))) // a reset after the response does not matter
    socket.on("close", () => resolve(Buffer.concat(pieces).toString("latin1")))
  })

/** Parses the responses of one connection. */
const parseReplies = (text: string, isHead: boolean): ReadonlyArray<Reply> => {
  if (text === "") return []
  const end = text.indexOf("\r\n\r\n")
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(statusLine)?.[1])
  if (!(status in STATUS_CODES)) throw new Error(`not an HTTP response: ${text.slice(0, 200)}`)
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
  )
  if (status === 100) return parseReplies(text.slice(end + 4), isHead)
  const length = isHead || status === 204 ? 0 : Number(headers["content-length"])
  const body = Buffer.from(text.slice(end + 4, end + 4 + length), "latin1").toString()
  const reply = { status, headers, text: body, json: body === "" ? undefined : JSON.parse(body) }
  return [reply, ...parseReplies(text.slice(end + 4 + length), isHead)]
}

const formatRequest = (requestLine: string, headers: ReadonlyArray<string>, body: string) =>
  [requestLine, ...headers, "Connection: close", "", body].join("\r\n")

/** Sends a request line and header lines unchanged, and reads all responses until the server closes the connection. */
export const sendRaw = async (
  api: string,
  requestLine: string,
  headers: ReadonlyArray<string> = ["Host: localhost"],
  body = ""
): Promise<ReadonlyArray<Reply>> => {
  const text = formatRequest(requestLine, headers, body)
  return parseReplies(await exchange(await open(api), Buffer.from(text)), requestLine.startsWith("HEAD"))
}

export interface Together {
  readonly connections: number
  readonly requestLine: string
  readonly headers: ReadonlyArray<string>
  readonly body?: string
  /** Requests on each connection, sent without waiting for responses. */
  readonly pipelined?: number
}

/** Opens the connections, then sends the requests of all of them at once. */
export const sendTogether = async (
  api: string,
  { body = "", connections, headers, pipelined = 1, requestLine }: Together
): Promise<ReadonlyArray<Reply>> => {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(api)))
  const request = [requestLine, ...headers, "", body].join("\r\n")
  const bytes = Buffer.from(request.repeat(pipelined - 1) + formatRequest(requestLine, headers, body))
  const texts = await Promise.all(sockets.map((socket) => exchange(socket, bytes)))
  return texts.flatMap((text) => parseReplies(text, false))
}
