/** Requests as bytes on a socket, for what no HTTP client would send. */

import { STATUS_CODES } from "node:http"
import { connect } from "node:net"
import type { Reply } from "./judge.ts"

/** Longest that an answer may take: what hangs is a failure. */
const patience = 10_000

const exchange = (api: string, bytes: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    const pieces: Array<Buffer> = []
    socket.setTimeout(patience, () => socket.destroy(new Error(`no end of the answer within ${patience} ms`)))
    socket.on("data", (piece) => pieces.push(piece))
    socket.on("error", (error) => (pieces.length > 0 ? undefined : reject(error))) // a reset after the answer is no matter
    socket.on("close", () => resolve(Buffer.concat(pieces).toString("latin1")))
  })

/** The answers in what came back, one after another. */
const repliesIn = (text: string, isHead: boolean): ReadonlyArray<Reply> => {
  if (text === "") return []
  const end = text.indexOf("\r\n\r\n")
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(statusLine)?.[1])
  if (!(status in STATUS_CODES)) throw new Error(`not an HTTP answer: ${text.slice(0, 200)}`)
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()])
  )
  if (status === 100) return repliesIn(text.slice(end + 4), isHead)
  const length = isHead || status === 204 ? 0 : Number(headers["content-length"])
  const body = Buffer.from(text.slice(end + 4, end + 4 + length), "latin1").toString()
  const reply = { status, headers, text: body, json: body === "" ? undefined : JSON.parse(body) }
  return [reply, ...repliesIn(text.slice(end + 4 + length), isHead)]
}

/** Sends a request line and header lines as they are, and reads every answer until the server closes. */
export const raw = async (
  api: string,
  requestLine: string,
  headers: ReadonlyArray<string> = ["Host: localhost"],
  body = ""
): Promise<ReadonlyArray<Reply>> => {
  const text = [requestLine, ...headers, "Connection: close", "", body].join("\r\n")
  return repliesIn(await exchange(api, Buffer.from(text)), requestLine.startsWith("HEAD"))
}
