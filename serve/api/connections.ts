/** Unfinished answers by connection. Input that is not readable HTTP is refused after the answers before it. */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

interface Connection {
  readonly socket: Socket
  readonly answers: Set<ServerResponse>
  newest?: { readonly request: IncomingMessage; readonly response: ServerResponse }
  /** Set once the connection is being closed. Called after each finished answer; hangs up after the last one. */
  end?: () => void
}

/** Grace period in milliseconds for a refused client to finish sending: an immediate close could lose the refusal. */
const lingerMs = 2_000

const hangUp = (socket: Duplex, refusal: string) => {
  if (socket.writable) socket.end(refusal)
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once("close", () => clearTimeout(timer))
}

/** Methods that are answered without reading the body. */
const bodyless: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"])

/** Unanswered requests per connection. One read of 64 KiB can contain two thousand requests. */
const maxPipelined = 64

/** Call this before the server listens. */
export const trackConnections = (server: Server) => {
  const connections = new Map<Duplex, Connection>()
  let isEnding = false
  // undocumented in Node; otherwise a client that closes its sending side loses the rest of its answer: see "end" below
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on("connection", (socket) => {
    const answers = new Set<ServerResponse>()
    const connection: Connection = { socket, answers }
    connections.set(socket, connection)
    socket.once("end", () => {
      // the client may have disconnected: calls without an answer are cancelled and not charged
      if (connection.end === undefined && ![...answers].some(({ headersSent }) => headersSent)) socket.end()
    })
    socket.once("close", () => {
      connections.delete(socket)
      for (const response of answers) response.destroy() // after CONNECT, Node does not close unsent answers
    })
  })

  server.prependListener("request", (request, response) => {
    const connection = connections.get(request.socket)
    if (connection === undefined) return
    const { answers } = connection
    if (isEnding) {
      for (const earlier of answers) if (!earlier.headersSent) earlier.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    connection.newest = { request, response }
    answers.add(response)
    response.once("close", () => {
      answers.delete(response)
      connection.end?.()
    })
  })

  return {
    sockets: (): ReadonlyArray<Socket> => [...connections.values()].map(({ socket }) => socket),

    /** From now on, the newest answer of each connection carries `Connection: close`. */
    endEach: () => {
      isEnding = true
      for (const { newest } of connections.values()) if (newest !== undefined) newest.response.shouldKeepAlive = false
    },

    isFull: (socket: Duplex): boolean => (connections.get(socket)?.answers.size ?? 0) >= maxPipelined,

    /** Whether this answer can no longer be sent: an earlier one was the last, or earlier input was refused. */
    isOver: (socket: Duplex, response: ServerResponse): boolean => {
      const { answers = [], end } = connections.get(socket) ?? {}
      if (end !== undefined) return true
      for (const earlier of answers)
        if (earlier !== response && earlier.headersSent && !earlier.shouldKeepAlive) return true
      return false
    },

    /** Stops reading a connection. If its newest request still waits for its body, the refusal is its answer. */
    breakOff: (socket: Duplex, refusal: () => string) => {
      const connection = connections.get(socket)
      if (connection === undefined || connection.end !== undefined) return // Node reports it again for every further read
      socket.removeAllListeners("end") // Node would close our side with the client's, and lose the answers
      const { answers, newest } = connection
      const broken = newest === undefined || newest.request.complete ? undefined : newest
      connection.end = () => {
        const isWaiting =
          broken !== undefined &&
          answers.has(broken.response) &&
          !broken.response.headersSent &&
          !bodyless.has(broken.request.method)
        if (answers.size > (isWaiting ? 1 : 0)) return
        hangUp(socket, broken === undefined || isWaiting ? refusal() : "")
      }
      connection.end()
    },

    /** Takes over a connection that Node detached, as it does after CONNECT. Discards further input. */
    adopt: (socket: Duplex) => {
      const connection = connections.get(socket)
      socket.on("error", () => undefined) // an unhandled error would end the process; the connection is closed anyway
      socket.on("drain", () => {
        const [sending] = connection?.answers ?? []
        sending?.emit("drain")
      })
      socket.resume()
    }
  }
}

export type Connections = ReturnType<typeof trackConnections>
