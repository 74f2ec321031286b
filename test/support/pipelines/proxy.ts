/** A real forward proxy on this machine: it tunnels and forwards plain HTTP to the port that a test chooses for a host. */
import { createServer, type IncomingHttpHeaders, request } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Effect } from "effect"

interface Forwarded {
  /** Such as `CONNECT api.example.com:443` or `GET http://shop.example.com/`. */
  readonly request: string
  readonly headers: IncomingHttpHeaders
}

interface ProxyOptions {
  /** Returns the port of this machine that serves the host. */
  readonly portOf?: (authority: string) => number
  /** Refuses every request with this status. */
  readonly refusalStatus?: number
}

export const startProxy = ({
  portOf = (authority) => Number(authority.split(":")[1] ?? 80),
  refusalStatus
}: ProxyOptions = {}) =>
  Effect.acquireRelease(
    Effect.callback<{ port: number; requests: ReadonlyArray<Forwarded>; server: ReturnType<typeof createServer> }>(
      (resume) => {
        const requests: Array<Forwarded> = []
        const server = createServer((incoming, outgoing) => {
          const { headers, method, url = "" } = incoming
          requests.push({ request: `${method} ${url}`, headers })
          if (refusalStatus !== undefined)
            return void outgoing.writeHead(refusalStatus).end("<html><title>Blocked</title></html>")
          const { host, pathname, search } = new URL(url)
          const forwarded = request({ host: "127.0.0.1", port: portOf(host), path: pathname + search, method, headers })
          forwarded.on("error", () => outgoing.destroy())
          forwarded.on("response", (response) => {
            outgoing.writeHead(response.statusCode ?? 502, response.headers)
            response.pipe(outgoing)
          })
          incoming.pipe(forwarded)
        })
        server.on("connect", ({ headers, url = "" }, client, head) => {
          requests.push({ request: `CONNECT ${url}`, headers })
          client.on("error", () => client.destroy())
          if (refusalStatus !== undefined)
            return void client.end(`HTTP/1.1 ${refusalStatus} Refused\r\ncontent-length: 0\r\n\r\n`)
          const target = connect(portOf(url), "127.0.0.1", () => {
            client.write("HTTP/1.1 200 Connection established\r\n\r\n")
            target.write(head)
            target.pipe(client).pipe(target)
          })
          target.on("error", () => client.destroy())
          client.on("close", () => target.destroy())
        })
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo // a server that listens on a port has one
          resume(Effect.succeed({ port, requests, server }))
        })
      }
    ),
    ({ server }) =>
      Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
  )
