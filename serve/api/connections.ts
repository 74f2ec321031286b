/** Tracks unfinished responses by connection. Input that is not valid HTTP is refused after the responses before it. */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

interface Connection {
  readonly socket: Socket
  readonly responses: Set<ServerResponse>
  newest?: { readonly request: IncomingMessage; readonly response: ServerResponse }
  /** Set once the connection is being closed. Called after each finished response; closes after the last one. */
  end?: () => void
}

/** Grace period in milliseconds for a refused client to finish sending: an immediate close could lose the refusal. */
const lingerMs = 2_000

const closeWith = (socket: Duplex, refusal: string) => {
  if (socket.writable) socket.end(refusal)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once("close", () => clearTimeout(timer))
}

/** The body of a request with these methods is not read. */
const methodsWithoutBody: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"])

/** Unfinished requests per connection. One read of 64 KiB can contain two thousand requests. */
const maxPipelined = 64

/** Call this before the server listens. */
export const trackConnections = (server: Server) => {
  const connections = new Map<Duplex, Connection>()
  let isEnding = false
  // undocumented in Node; otherwise a client that closes its sending side loses the rest of its response: see "end" below
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on("connection", (socket) => {
    const responses = new Set<ServerResponse>()
    const connection: Connection = { socket, responses }
    connections.set(socket, connection)
    socket.once("end", () => {
      // the client may have disconnected: calls without a response are cancelled and not charged
      if (connection.end === undefined && ![...responses].some(({ headersSent }) => headersSent)) socket.end()
    })
    socket.once("close", () => {
      connections.delete(socket)
      for (const response of responses) response.destroy() // after CONNECT, Node does not close unsent responses
    })
  })

  server.prependListener("request", (request, response) => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const { responses } = connection
    if (isEnding) {
      for (const earlier of responses) if (!earlier.headersSent) earlier.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    connection.newest = { request, response }
    responses.add(response)
    response.once("close", () => {
      responses.delete(response)
      connection.end?.()
    })
  })

  const isUnused = (socket: Duplex) => connections.get(socket)?.socket.bytesRead === 0

  return {
    /** Whether the client has sent nothing yet: balancers and browsers open connections in advance. */
    isUnused,

    /** Closes the connections that wait for a request. For Node, unused ones are not idle. */
    closeIdle: () => {
      server.closeIdleConnections()
      for (const socket of connections.keys()) if (isUnused(socket)) socket.destroy()
    },

    sockets: (): ReadonlyArray<Socket> => [...connections.values()].map(({ socket }) => socket),

    /** From now on, the newest response of each connection has `Connection: close`. */
    closeAfterNewest: () => {
      isEnding = true
      for (const { newest } of connections.values()) if (newest !== undefined) newest.response.shouldKeepAlive = false
    },

    isFull: (socket: Duplex): boolean => (connections.get(socket)?.responses.size ?? 0) >= maxPipelined,

    /** Whether this response can no longer be sent: an earlier response or a refusal closes the connection. */
    isUnsendable: (socket: Duplex, response: ServerResponse): boolean => {
      const { end, responses = [] } = connections.get(socket) ?? {}
      if (end !== undefined) return true
      for (const earlier of responses)
        if (earlier !== response && earlier.headersSent && !earlier.shouldKeepAlive) return true
      return false
    },

    /** Stops reading a connection. If the body of its newest request is incomplete, the refusal responds to that request. */
    refuseInput: (socket: Duplex, refusal: () => string) => {
      const connection = connections.get(socket)
      if (connection === undefined || connection.end !== undefined) return // Node reports it again for every further read
      socket.removeAllListeners("end") // Node would close our side with the client's, and lose the responses
      const { newest, responses } = connection
      const incomplete = newest === undefined || newest.request.complete ? undefined : newest
      connection.end = () => {
        const isWaiting =
          incomplete !== undefined &&
          responses.has(incomplete.response) &&
          !incomplete.response.headersSent &&
          !methodsWithoutBody.has(incomplete.request.method)
        if (responses.size > (isWaiting ? 1 : 0)) return
        closeWith(socket, incomplete === undefined || isWaiting ? refusal() : "")
      }
      connection.end()
    },

    /** Handles the events of a connection that Node detached, as it does after CONNECT. Discards further input. */
    adopt: (socket: Duplex) => {
      const connection = connections.get(socket)
      socket.on("error", () => undefined) // an unhandled error would end the process; the connection is closed anyway
      socket.on("drain", () => {
        const [sending] = connection?.responses ?? []
        sending?.emit("drain")
      })
      socket.resume()
    }
  }
}

export type Connections = ReturnType<typeof trackConnections>
