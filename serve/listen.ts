/** A listener: an h3 application on an address, closed with its scope after the requests in flight are answered. */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Server as NetServer } from "node:net"
import type { Duplex } from "node:stream"
import { methodNotAllowed } from "@larder/schemas/api-errors.ts"
import { Effect, Schedule, Schema } from "effect"
import { type H3, serve } from "h3"
import { makeReaders } from "./fairness/readers.ts"
import { newRequestId } from "./request-id.ts"

export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  what: Schema.String,
  host: Schema.String,
  port: Schema.Int,
  setting: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The ${this.what} cannot listen on ${this.host}:${this.port}: ${cause}. Set ${this.setting} to another port.`
  }
}

/** Longest time that a stop waits for requests in flight. */
const longestDrain = "10 seconds"
/** Milliseconds in which a caller far away may still send a request on a connection that it keeps open: it is answered. */
const grace = 1_000

/**
 * Ends a server without cutting off a call. Node would close idle connections at once, also those on which a request is
 * under way to us, and would leave the busy ones open for as long as their callers go on. So nobody new is let in, every
 * answer from now on is the last one of its connection, and what stays idle is closed a moment later.
 */
const drain = (server: Server, answering: ReadonlySet<ServerResponse>) => {
  for (const response of answering) response.shouldKeepAlive = false
  server.prependListener("request", (_request, response) => {
    response.shouldKeepAlive = false
  })
  // after a long turn of the event loop timers come before what has arrived meanwhile: that is read first
  setTimeout(() => setImmediate(() => server.closeIdleConnections()), grace).unref()
  return new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
}

/** The answers that are under way. */
const answersOf = (server: Server): ReadonlySet<ServerResponse> => {
  const answering = new Set<ServerResponse>()
  server.prependListener("request", (_request, response) => {
    answering.add(response)
    response.once("close", () => answering.delete(response))
  })
  return answering
}

/** What Node and its adapter would answer with an empty body, or cut off, gets the shape of every other error. */
const answerBrokenHttp = (server: Server) => {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== "ECONNRESET") endWith(socket, brokenHttp[error.code ?? ""] ?? unreadable)
    else socket.destroy()
  })
  server.on("connect", (_request, socket) => endWith(socket, connect))
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  const answers = server.listeners("request")
  server.removeAllListeners("request").on("request", (request, response) => {
    if (isReadable(request)) for (const answer of answers) answer.call(server, request, response)
    else endWith(response.socket, unreadable)
  })
}

/** A target is a path, or a whole address, as proxies send it; and HTTP/1.1 names its host. */
const isReadable = ({ headers, httpVersion, url = "" }: IncomingMessage) =>
  (url.startsWith("/") || url === "*" || /^https?:\/\/[^/?#]/i.test(url)) &&
  (headers.host !== undefined || httpVersion === "1.0")

const refusal = (status: string, message: string, headers = "") => ({ status, message, headers })
const unreadable = refusal("400 Bad Request", "The request is not readable HTTP")
const connect = refusal("405 Method Not Allowed", methodNotAllowed.message, "allow: GET, OPTIONS\r\n")
const brokenHttp: Readonly<Record<string, typeof unreadable>> = {
  HPE_HEADER_OVERFLOW: refusal("431 Request Header Fields Too Large", "Request line and headers take at most 16 KiB"),
  ERR_HTTP_REQUEST_TIMEOUT: refusal("408 Request Timeout", "The request did not arrive in time")
}

const endWith = (socket: Duplex | null, { headers, message, status }: typeof unreadable) => {
  const body = JSON.stringify({ error: { type: "invalid_request", message } })
  socket?.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\ncache-control: private, no-store\r\naccess-control-allow-origin: *\r\nx-request-id: ${newRequestId()}\r\n${headers}connection: close\r\n\r\n${body}`
  )
}

interface Listening {
  readonly what: string
  readonly host: string
  readonly port: number
  /** Name of the setting that holds the port. */
  readonly setting: string
  /** Whether unread answers hold as much memory as they may: then the slowest readers are cut off. */
  readonly isFull?: () => boolean
}

const betweenLooks = "2 seconds"

/** Listens and answers with the address. Port 0 takes a free one. */
export const listen = Effect.fnUntraced(function* (
  app: H3,
  { host, isFull = () => false, port, setting, what }: Listening
) {
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const listening = serve(app, {
          hostname: host,
          port,
          silent: true,
          gracefulShutdown: false,
          manual: true,
          node: { requireHostHeader: false } // Node's refusal has no body
        })
        const node = listening.node?.server as Server // srvx on Node, HTTP/1.1
        answerBrokenHttp(node)
        const answering = answersOf(node)
        const failed = new Promise<never>((_, reject) => node.once("error", reject))
        await Promise.race([Promise.resolve(listening.serve()).then(() => listening.ready()), failed])
        return { answering, node }
      },
      catch: (cause) => new CannotListen({ what, host, port, setting, cause })
    }),
    ({ answering, node }) =>
      Effect.promise(() => drain(node, answering)).pipe(
        Effect.timeoutOrElse({ duration: longestDrain, orElse: () => Effect.sync(() => node.closeAllConnections()) })
      )
  )
  const { look } = makeReaders({ answering: server.answering, isFull, now: Date.now })
  yield* Effect.forkScoped(Effect.repeat(Effect.promise(look), Schedule.spaced(betweenLooks)))
  const address = server.node.address()
  const taken = typeof address === "object" && address !== null ? address.port : port
  return `http://${host.includes(":") ? `[${host}]` : host}:${taken}`
})
