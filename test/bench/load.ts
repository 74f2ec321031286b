/**
 * Sends load to one address: keep-alive connections, each with one request after another. It uses bare sockets, because
 * a load generator must need much less CPU than the server that it measures. Libraries for Node need more.
 */
import { connect } from "node:net"
import { readUsage } from "./process-usage.ts"
import { percentile, roundTo } from "./statistics.ts"

export interface Measured {
  readonly requests_per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  /** CPU time of the server's process per call, in microseconds. NaN without `pid`, and on systems other than Linux. */
  readonly cpu_us: number
  /** Responses other than 200, and broken connections. */
  readonly failed: number
}

export interface Load {
  readonly url: string
  /** Requested instead of the path of `url`. All connections share the list, which repeats. */
  readonly paths?: ReadonlyArray<string>
  readonly key: string
  readonly seconds: number
  /** The process of the server. */
  readonly pid?: number | undefined
  readonly connections?: number
  /** Further headers, one per line. */
  readonly headers?: string
  /** If present, the method is POST. */
  readonly body?: string
}

const endOfHead = "\r\n\r\n"
const parseLength = (head: string) => Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)

/** Sends requests on one connection until the deadline. Passes each status and duration to `onResponse`. */
const call = (
  url: URL,
  nextRequest: () => string,
  deadline: number,
  onResponse: (status: number, milliseconds: number) => void
) =>
  new Promise<void>((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
    let head = ""
    let missingBytes = Number.POSITIVE_INFINITY
    let sentAt = 0
    const send = () => {
      head = ""
      missingBytes = Number.POSITIVE_INFINITY
      sentAt = performance.now()
      socket.write(nextRequest(), "latin1")
    }
    socket.on("connect", send)
    socket.on("data", (piece) => {
      if (missingBytes === Number.POSITIVE_INFINITY) {
        const before = head.length
        head += piece.toString("latin1")
        const end = head.indexOf(endOfHead)
        if (end < 0) return
        missingBytes = parseLength(head.slice(0, end)) - (before + piece.length - end - endOfHead.length)
      } else missingBytes -= piece.length
      if (missingBytes > 0) return
      onResponse(Number(head.slice(9, 12)), performance.now() - sentAt)
      if (performance.now() < deadline) send()
      else socket.end()
    })
    socket.on("error", () => onResponse(0, 0))
    socket.on("close", () => resolve())
  })

export const load = async ({
  body,
  connections = 64,
  headers: furtherHeaders = "",
  key,
  paths,
  pid,
  seconds,
  url
}: Load): Promise<Measured> => {
  const address = new URL(url)
  const content = body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  const headers = `HTTP/1.1\r\nHost: ${address.host}\r\nAuthorization: Bearer ${key}\r\n${furtherHeaders}${content}\r\n${body ?? ""}`
  const method = body === undefined ? "GET" : "POST"
  const requests = (paths ?? [address.pathname + address.search]).map((target) => `${method} ${target} ${headers}`)
  let sent = 0
  const nextRequest = () => requests[sent++ % requests.length] ?? ""
  const durations: Array<number> = []
  let failed = 0
  const cpuBefore = readUsage(pid)?.cpu_seconds ?? Number.NaN
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  const onResponse = (status: number, milliseconds: number) => {
    if (status === 200) durations.push(milliseconds)
    else failed++
  }
  await Promise.all(Array.from({ length: connections }, () => call(address, nextRequest, deadline, onResponse)))
  const elapsed = (performance.now() - startedAt) / 1000
  const cpu = (readUsage(pid)?.cpu_seconds ?? Number.NaN) - cpuBefore
  const sorted = Float64Array.from(durations).sort()
  return {
    requests_per_second: Math.round(durations.length / elapsed),
    p50_ms: percentile(sorted, 0.5),
    p99_ms: percentile(sorted, 0.99),
    cpu_us: roundTo((cpu / (durations.length + failed)) * 1e6),
    failed
  }
}
