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
  /** Not finished yet, in the order of their requests. */
  readonly answers: Set<ServerResponse>
  newest?: { readonly request: IncomingMessage; readonly response: ServerResponse }
  /** Of a connection that is broken off: ends it when its answers are finished. */
  end?: () => void
}

/** Milliseconds in which a client may finish to send, and read its refusal: closed at once, it could lose that. */
const lingering = 2_000

const hangUp = (socket: Duplex, refusal: string) => {
  if (socket.writable) socket.end(refusal)
  const timer = setTimeout(() => socket.destroy(), lingering)
  socket.once("close", () => clearTimeout(timer))
}

/** These are answered whatever their body is. */
const bodyless: ReadonlySet<string | undefined> = new Set(["GET", "HEAD", "OPTIONS"])

/** To be called before the server listens. */
export const connectionsOf = (server: Server) => {
  const connections = new Map<Duplex, Connection>()
  let isEnding = false

  server.on("connection", (socket) => {
    const answers = new Set<ServerResponse>()
    connections.set(socket, { socket, answers })
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

    /** From now on, the newest answer of each connection tells its client that it is the last one. */
    endEach: () => {
      isEnding = true
      for (const { newest } of connections.values()) if (newest !== undefined) newest.response.shouldKeepAlive = false
    },

    /** Whether an answer before this one has told the client already that it is the last: this one would not be sent. */
    isOver: (socket: Duplex, response: ServerResponse): boolean => {
      const { answers = [] } = connections.get(socket) ?? {}
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
      if (connection === undefined || connection.end !== undefined) return // Node tells of every further piece, too
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

    /** Looks after a connection that Node has given away, as it does with CONNECT. What its client sends now is dropped. */
    adopt: (socket: Duplex) => {
      const connection = connections.get(socket)
      socket.on("error", () => undefined) // unheard it would end the process; the connection is closed anyway
      socket.on("drain", () => {
        const [sending] = connection?.answers ?? []
        sending?.emit("drain")
      })
      socket.resume()
    }
  }
}
