/** A listener: an h3 application on an address, closed with its scope after the requests in flight are answered. */

import { randomUUID } from "node:crypto"
import type { Server } from "node:http"
import { Effect, Schema } from "effect"
import { type H3, serve } from "h3"

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

/** HTTP that Node itself cannot read never reaches h3; it is answered here, in the shape of every other error. */
const answerBrokenHttp = (server: Server) =>
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return socket.destroy()
    const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request"
    const body = '{"error":{"type":"invalid_request","message":"The request is not readable HTTP"}}'
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nx-request-id: req_${randomUUID()}\r\nconnection: close\r\n\r\n${body}`
    )
  })

interface Listening {
  readonly what: string
  readonly host: string
  readonly port: number
  /** Name of the setting that holds the port. */
  readonly setting: string
}

/** Listens and answers with the address. Port 0 takes a free one. */
export const listen = Effect.fnUntraced(function* (app: H3, { host, port, setting, what }: Listening) {
  const server = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const listening = serve(app, { hostname: host, port, silent: true, gracefulShutdown: false, manual: true })
        const node = listening.node?.server as Server // srvx on Node, HTTP/1.1
        answerBrokenHttp(node)
        const failed = new Promise<never>((_, reject) => node.once("error", reject))
        await Promise.race([Promise.resolve(listening.serve()).then(() => listening.ready()), failed])
        return { listening, node }
      },
      catch: (cause) => new CannotListen({ what, host, port, setting, cause })
    }),
    ({ listening, node }) =>
      Effect.promise(async () => {
        const closed = listening.close()
        node.closeIdleConnections()
        await closed
      }).pipe(
        Effect.timeoutOrElse({ duration: longestDrain, orElse: () => Effect.sync(() => node.closeAllConnections()) })
      )
  )
  const address = server.node.address()
  const taken = typeof address === "object" && address !== null ? address.port : port
  return `http://${host.includes(":") ? `[${host}]` : host}:${taken}`
})
