/** A wire between a server and its database that can lose answers, be cut, and be mended. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface BreakableWire {
  /** The database behind the wire. */
  readonly url: string
  /** The next answers of the database are lost, and with them the connections: what was asked is done all the same. */
  readonly loseAnswers: () => void
  /** No connection reaches the database until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
  /** New connections reach this server instead, which has the same database. */
  readonly leadTo: (url: string) => void
  readonly isCut: () => boolean
  /** Of the connections to the database, as it sees them. */
  readonly ports: () => ReadonlyArray<number>
  readonly close: () => Promise<void>
}

export const breakableWire = async (databaseUrl: string): Promise<BreakableWire> => {
  let database = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const ports = new Set<number>()
  let isLosing = false
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
    client.pipe(upstream)
    upstream.on("data", (bytes) => {
      if (!isLosing) {
        client.write(bytes)
        return
      }
      isLosing = false
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
    loseAnswers: () => {
      isLosing = true
    },
    cut: () => {
      isCut = true
      endAll()
    },
    mend: () => {
      isCut = false
    },
    leadTo: (to) => {
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
