/**
 * The answers that a server has still to finish, by connection. Node sends the answers of a connection in the order of its
 * requests, however soon they are ready. What is no readable HTTP has no place in that order: it waits here for the answers
 * before it, is then refused, and ends the connection.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"

interface Connection {
  readonly socket: Socket
  /** Unfinished answers, in the order of their requests. */
  readonly answers: Set<ServerResponse>
  newest?: { readonly request: IncomingMessage; readonly response: ServerResponse }
  /** Set on a connection that is being closed: called once its answers are finished. */
  end?: () => void
}

/** Grace period in milliseconds for a refused client to finish sending: an immediate close could lose the refusal. */
const lingering = 2_000

const hangUp = (socket: Duplex, refusal: string) => {
  if (socket.writable) socket.end(refusal)
  const timer = setTimeout(() => socket.destroy(), lingering)
  socket.once("close", () => clearTimeout(timer))
}

/** These are answered whatever their body is. */
const bodyless: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"])

/** Pipelined requests of one connection without an answer. One read of 64 KiB can hold two thousand. */
const mostPipelined = 64

/** To be called before the server listens. */
export const connectionsOf = (server: Server) => {
  const connections = new Map<Duplex, Connection>()
  let isEnding = false
  // Without this property of Node's (not in its documentation), a client who has sent all it will would lose the rest of
  // an answer that is on its way. See "end" below.
  Object.assign(server, { httpAllowHalfOpen: true })

  server.on("connection", (socket) => {
    const answers = new Set<ServerResponse>()
    const connection: Connection = { socket, answers }
    connections.set(socket, connection)
    socket.once("end", () => {
      // the client may have disconnected: calls without an answer yet are cancelled, uncharged
      if (connection.end === undefined && ![...answers].some(({ headersSent }) => headersSent)) socket.end()
    })
    socket.once("close", () => {
      connections.delete(socket)
      for (const response of answers) response.destroy() // after CONNECT, Node forgets those that are not sent yet
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

    /** Whether a connection has reached its limit of pipelined requests. */
    isFull: (socket: Duplex): boolean => (connections.get(socket)?.answers.size ?? 0) >= mostPipelined,

    /**
     * Whether this answer would not be sent: one before it has told the client already that it is the last, or what came
     * before it was refused.
     */
    isOver: (socket: Duplex, response: ServerResponse): boolean => {
      const { answers = [], end } = connections.get(socket) ?? {}
      if (end !== undefined) return true
      for (const earlier of answers)
        if (earlier !== response && earlier.headersSent && !earlier.shouldKeepAlive) return true
      return false
    },

    /**
     * Reads no further on a connection. What is broken may be the body of the newest request: that one is refused where it
     * waits for its body, and gets its answer, and no refusal on top, where it does not.
     */
    breakOff: (socket: Duplex, refusal: () => string) => {
      const connection = connections.get(socket)
      if (connection === undefined || connection.end !== undefined) return // Node emits this for every further read, too
      socket.removeAllListeners("end") // Node would end our side with the client's, and the answers with it
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

    /** Takes over a connection that Node detached, as it does with CONNECT. Further input is dropped. */
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
