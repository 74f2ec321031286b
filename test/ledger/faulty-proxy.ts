/** A TCP proxy in front of a database, which can lose responses, cut connections, and be repaired. */
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"

export interface FaultyProxy {
  /** The database behind the proxy. */
  readonly url: string
  /** Loses the response to the next COMMIT, which the database runs, and cuts all connections. */
  readonly loseCommitResponse: () => void
  /** Keeps back the response to the next COMMIT, and those after it on its connection, until the returned function runs. */
  readonly keepCommitResponse: () => () => void
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

/** How the database answers a COMMIT. */
const committed = "COMMIT\0"

/** `rewrite` changes what is sent to the database. It must keep the number of bytes. */
export const startFaultyProxy = async (
  databaseUrl: string,
  rewrite = (bytes: Buffer): Buffer => bytes
): Promise<FaultyProxy> => {
  let database = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const ports = new Set<number>()
  let losesNext = false
  let kept: { client?: Socket; readonly responses: Array<Buffer> } | undefined
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
    client.on("data", (bytes) => upstream.write(rewrite(bytes)))
    upstream.on("data", (bytes) => {
      const isCommit = bytes.includes(committed)
      if (isCommit && losesNext) {
        losesNext = false
        isCut = true
        endAll()
        return
      }
      if (isCommit && kept !== undefined) kept.client ??= client
      if (kept?.client === client) kept.responses.push(bytes)
      else client.write(bytes)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const url = new URL(databaseUrl)
  url.port = String(typeof address === "object" ? address?.port : "")
  return {
    url: url.href,
    loseCommitResponse: () => {
      losesNext = true
    },
    keepCommitResponse: () => {
      const keeping: NonNullable<typeof kept> = { responses: [] }
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
