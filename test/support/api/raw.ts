/** Requests as bytes on a socket, for requests that no HTTP client sends. */

import { STATUS_CODES } from "node:http"
import { connect } from "node:net"
import type { Reply } from "./check-response.ts"

/** Milliseconds; a response that takes longer is a failure. */
const maxWait = 10_000

const exchange = (api: string, bytes: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
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

/** Sends a request line and header lines unchanged, and reads all responses until the server closes the connection. */
export const sendRaw = async (
  api: string,
  requestLine: string,
  headers: ReadonlyArray<string> = ["Host: localhost"],
  body = ""
): Promise<ReadonlyArray<Reply>> => {
  const text = [requestLine, ...headers, "Connection: close", "", body].join("\r\n")
  return parseReplies(await exchange(api, Buffer.from(text)), requestLine.startsWith("HEAD"))
}
