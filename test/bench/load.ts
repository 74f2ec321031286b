/**
 * Load from this process on one address: keep-alive connections, one request after the other on each. Written on bare
 * sockets, because a generator must cost much less than the server it measures; the ready-made ones for Node do not.
 */
import { connect } from "node:net"
import { median, percentile } from "./statistics.ts"

export interface Measured {
  readonly requests_per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  /** Answers that were not 200, and connections that broke. */
  readonly failed: number
}

export interface Load {
  readonly url: string
  /** Instead of the address's own path: one after the other, by turns on all connections, and again from the first. */
  readonly paths?: ReadonlyArray<string>
  readonly key: string
  readonly seconds: number
  readonly connections?: number
  /** Other headers, one a line. */
  readonly headers?: string
  /** Sent by POST. */
  readonly body?: string
}

const endOfHead = "\r\n\r\n"
const lengthOf = (head: string) => Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)

/** One connection until `until`; `answered` is told each status and how long it took. Bodies are counted, not kept. */
const call = (
  url: URL,
  nextRequest: () => string,
  until: number,
  answered: (status: number, milliseconds: number) => void
) =>
  new Promise<void>((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    let head = ""
    let missing = Number.POSITIVE_INFINITY
    let sentAt = 0
    const send = () => {
      head = ""
      missing = Number.POSITIVE_INFINITY
      sentAt = performance.now()
      socket.write(nextRequest(), "latin1")
    }
    socket.on("connect", send)
    socket.on("data", (piece) => {
      if (missing === Number.POSITIVE_INFINITY) {
        const before = head.length
        head += piece.toString("latin1")
        const end = head.indexOf(endOfHead)
        if (end < 0) return
        missing = lengthOf(head.slice(0, end)) - (before + piece.length - end - endOfHead.length)
      } else missing -= piece.length
      if (missing > 0) return
      answered(Number(head.slice(9, 12)), performance.now() - sentAt)
      if (performance.now() < until) send()
      else socket.end()
    })
    socket.on("error", () => answered(0, 0))
    socket.on("close", () => resolve())
  })

export const load = async ({
  body,
  connections = 64,
  headers: more = "",
  key,
  paths,
  seconds,
  url
}: Load): Promise<Measured> => {
  const at = new URL(url)
  const content = body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const headers = `HTTP/1.1\r\nHost: ${at.host}\r\nAuthorization: Bearer ${key}\r\n${more}${content}\r\n${body ?? ""}`
  const method = body === undefined ? "GET" : "POST"
  const requests = (paths ?? [at.pathname + at.search]).map((target) => `${method} ${target} ${headers}`)
  let turn = 0
  const nextRequest = () => requests[turn++ % requests.length] ?? ""
  const took: Array<number> = []
  let failed = 0
  const startedAt = performance.now()
  const until = startedAt + seconds * 1000
  const answered = (status: number, milliseconds: number) => {
    if (status === 200) took.push(milliseconds)
    else failed++
  }
  await Promise.all(Array.from({ length: connections }, () => call(at, nextRequest, until, answered)))
  const elapsed = (performance.now() - startedAt) / 1000
  const sorted = Float64Array.from(took).sort()
  return {
    requests_per_second: Math.round(took.length / elapsed),
    p50_ms: percentile(sorted, 0.5),
    p99_ms: percentile(sorted, 0.99),
    failed
  }
}

/** The medians of several rounds, with the failures of all. */
export const middle = (measured: ReadonlyArray<Measured>): Measured => ({
  requests_per_second: Math.round(median(measured.map((one) => one.requests_per_second))),
  p50_ms: median(measured.map((one) => one.p50_ms)),
  p99_ms: median(measured.map((one) => one.p99_ms)),
  failed: measured.reduce((sum, one) => sum + one.failed, 0)
})
