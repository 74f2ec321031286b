/** A listener: an h3 application on an address. When its scope closes, it first responds to the requests in flight. */
import { type Server, STATUS_CODES } from "node:http"
import { Server as NetServer } from "node:net"
import { type ApiError, methodNotAllowed, tooManyInFlight } from "@larder/schemas"
import { Duration, Effect, Schedule, Schema } from "effect"
import { type H3, serve } from "h3"
import { buildUrl } from "../addresses.ts"
import { maxWait, Stop } from "../stop.ts"
import { type Connections, trackConnections } from "./connections.ts"
import { chunkBytes } from "./fairness/limiter.ts"
import { makeReaders } from "./fairness/readers.ts"
import { explainParseError, findProblem, type ParseError } from "./http-problems.ts"
import { makeErrorResponse, newRequestId } from "./response.ts"

class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  server: Schema.String,
  host: Schema.String,
  port: Schema.Int,
  setting: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The ${this.server} cannot listen on ${this.host}:${this.port}: ${cause}. Set ${this.setting} to another port.`
  }
}

/** Idle connections stay open this long during a stop: a request that is already on its way still gets its response. */
const idleGraceMs = 1_000

/**
 * Stops a server without cutting off a call: it accepts no new connections, closes each connection after its newest
 * response, and closes idle ones after `idleGraceMs`. Node would close idle connections immediately, and keep busy
 * ones open for as long as their callers send requests.
 */
const drain = (server: Server, connections: Connections) => {
  connections.closeAfterNewest()
  // after a long iteration of the event loop, timers run before pending input is read; `setImmediate` waits for that
  setTimeout(() => setImmediate(connections.closeIdle), idleGraceMs).unref()
  return new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
}

/** Responds with an API error to requests that Node and its adapter would cut off, or refuse with an empty body. */
const refuseBrokenHttp = (server: Server, connections: Connections, docsUrl: string | undefined) => {
  server.on("clientError", (error: ParseError, socket) => {
    // a response on a connection without a request would be taken for that to the next request
    if (error.code === "ECONNRESET" || connections.isUnused(socket)) socket.destroy()
    else connections.refuseInput(socket, () => formatError(explainParseError(error), docsUrl))
  })
  server.on("connect", (_request, socket) => {
    connections.adopt(socket)
    connections.refuseInput(socket, () => formatError(methodNotAllowed, docsUrl))
  })
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  const listeners = server.listeners("request")
  server.removeAllListeners("request").on("request", (request, response) => {
    if (connections.isUnsendable(request.socket, response)) return
    if (connections.isFull(request.socket)) {
      connections.refuseInput(request.socket, () => formatError(tooManyInFlight, docsUrl))
      return
    }
    const problem = findProblem(request)
    if (problem === undefined) {
      for (const listener of listeners) listener.call(server, request, response)
      return
    }
    const { body, headers, status } = makeRefusal(problem, docsUrl)
    response.writeHead(status, headers).end(body)
  })
}

const makeRefusal = (error: ApiError, docsUrl: string | undefined) => {
  const allow = error === methodNotAllowed ? { allow: "GET, OPTIONS" } : undefined
  const response = makeErrorResponse(newRequestId(), error, docsUrl, allow)
  const length = { "content-length": String(Buffer.byteLength(response.body)) }
  return { ...response, headers: { ...response.headers, ...length } }
}

const formatError = (error: ApiError, docsUrl: string | undefined): string => {
  const { body, headers, status } = makeRefusal(error, docsUrl)
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`
}

interface ListenOptions {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly setting: string
  /** How long a connection stays open without a request. */
  readonly keepAlive?: Duration.Duration
  /** Whether unread responses have reached their memory limit; the slowest readers are then disconnected. */
  readonly isFull?: () => boolean
  /** Address of the docs that explain errors; by default this listener. */
  readonly docsUrl?: string | undefined
}

/**
 * Node closes a connection without a request after `headersTimeout` if it is new, and a second after `keepAliveTimeout`,
 * which it announces, if it was used. The limits of the other two are Node's defaults.
 */
const deriveTimeouts = (keepAliveTimeout: number) => {
  const keepAliveTimeoutBuffer = 1_000
  const headersTimeout = Math.max(60_000, keepAliveTimeout + keepAliveTimeoutBuffer)
  return { keepAliveTimeout, keepAliveTimeoutBuffer, headersTimeout, requestTimeout: Math.max(300_000, headersTimeout) }
}

const readersCheckInterval = "2 seconds"

export const listen = Effect.fnUntraced(function* (
  app: H3,
  { docsUrl, host, isFull = () => false, keepAlive = Duration.seconds(5), name, port, setting }: ListenOptions
) {
  const { second } = yield* Stop
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const listening = serve(app, {
          hostname: host,
          port,
          silent: true,
          gracefulShutdown: false,
          manual: true,
          node: {
            ...deriveTimeouts(Duration.toMillis(keepAlive)),
            requireHostHeader: false, // Node's refusal has no body
            highWaterMark: chunkBytes // small, so that a slow reader's progress can be measured
          }
        })
        const node = listening.node?.server as Server // srvx on Node, HTTP/1.1
        node.maxHeadersCount = 0 // the limit is 16 KiB; Node would drop all headers after the thousandth
        const connections = trackConnections(node)
        refuseBrokenHttp(node, connections, docsUrl)
        const failure = new Promise<never>((_, reject) => node.once("error", reject))
        await Promise.race([Promise.resolve(listening.serve()).then(() => listening.ready()), failure])
        return { connections, node }
      },
      catch: (cause) => new CannotListen({ server: name, host, port, setting, cause })
    }),
    ({ connections, node }) =>
      Effect.raceFirst(
        Effect.promise(() => drain(node, connections)),
        Effect.timeoutOption(second, maxWait).pipe(Effect.andThen(Effect.sync(() => node.closeAllConnections())))
      )
  )
  const { check } = makeReaders({ sockets: server.connections.sockets, isFull, now: () => performance.now() })
  yield* Effect.forkScoped(Effect.repeat(Effect.promise(check), Schedule.spaced(readersCheckInterval)))
  const address = server.node.address()
  return buildUrl(host, typeof address === "object" && address !== null ? address.port : port)
})
