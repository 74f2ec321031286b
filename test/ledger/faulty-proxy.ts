/** A TCP proxy in front of a database, which can lose responses, cut connections, and be repaired. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface FaultyProxy {
  /** The database behind the proxy. */
  readonly url: string
  /**
   * Loses the response to a message of a connection, by default the next one, and cuts the connections. The database still
   * runs the statements. A group is two messages: it locks and reads, and then writes and commits.
   */
  readonly loseResponses: (message?: number) => void
  /** Keeps back the response to that message of a connection, and those after it, until the returned function runs. */
  readonly keepResponses: (message: number) => () => void
  /** No connection reaches the database until it is repaired. */
  readonly cut: () => void
  readonly repair: () => void
  /** New connections reach this server instead, which has the same database. */
  readonly redirectTo: (url: string) => void
  readonly isCut: () => boolean
  /** The local ports of all connections to the database so far. */
  readonly ports: () => ReadonlyArray<number>
  readonly close: () => Promise<void>
}

export const startFaultyProxy = async (databaseUrl: string): Promise<FaultyProxy> => {
  let database = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const ports = new Set<number>()
  /** Number of the message whose response is lost, from 1; 0 if none is. */
  let lostMessage = 0
  let kept: { readonly message: number; client?: Socket; readonly responses: Array<Buffer> } | undefined
  let isCut = false
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const upstream = connect(Number(database.port), database.hostname)
    upstream.on("connect", () => ports.add(upstream.localPort ?? 0))
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    let messages = 0
    client.on("data", (bytes) => {
      if (lostMessage > 0 || kept !== undefined) messages++
      upstream.write(bytes)
    })
    upstream.on("data", (bytes) => {
      if (kept !== undefined && messages >= kept.message) {
        kept.client ??= client
        if (kept.client === client) {
          kept.responses.push(bytes)
          return
        }
      }
      if (lostMessage === 0 || messages < lostMessage) {
        client.write(bytes)
        return
      }
      lostMessage = 0
      isCut = true
      endAll()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const url = new URL(databaseUrl)
  url.port = String(typeof address === "object" ? address?.port : "")
  return {
    url: url.href,
    loseResponses: (message = 1) => {
      lostMessage = message
    },
    keepResponses: (message) => {
      const keeping: NonNullable<typeof kept> = { message, responses: [] }
      kept = keeping
      return () => {
        kept = undefined
        for (const bytes of keeping.responses) keeping.client?.write(bytes)
      }
    },
    cut: () => {
      isCut = true
      endAll()
    },
    repair: () => {
      isCut = false
    },
    redirectTo: (to) => {
      database = new URL(to)
    },
    isCut: () => isCut,
    ports: () => [...ports],
    close: async () => {
      endAll()
      server.close()
      await once(server, "close")
    }
  }
}
