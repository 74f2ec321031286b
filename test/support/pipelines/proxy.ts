/** A real forward proxy on this machine: it tunnels, and forwards plain HTTP, to wherever a test says that a host lies. */
import { createServer, type IncomingHttpHeaders, request } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Effect } from "effect"

interface Forwarded {
  /** Such as `CONNECT api.example.com:443` or `GET http://shop.example.com/`. */
  readonly asked: string
  readonly headers: IncomingHttpHeaders
}

interface ProxyOptions {
  /** Port of this machine where the host lies. */
  readonly portOf?: (authority: string) => number
  /** Status with which every request is refused. */
  readonly refuses?: number
}

export const startProxy = ({
  portOf = (authority) => Number(authority.split(":")[1] ?? 80),
  refuses
}: ProxyOptions = {}) =>
  Effect.acquireRelease(
    Effect.callback<{ port: number; seen: ReadonlyArray<Forwarded>; server: ReturnType<typeof createServer> }>(
      (resume) => {
        const seen: Array<Forwarded> = []
        const server = createServer((incoming, outgoing) => {
          const { headers, method, url = "" } = incoming
          seen.push({ asked: `${method} ${url}`, headers })
          if (refuses !== undefined) return void outgoing.writeHead(refuses).end("<html><title>Blocked</title></html>")
          const { host, pathname, search } = new URL(url)
          const forwarded = request({ host: "127.0.0.1", port: portOf(host), path: pathname + search, method, headers })
          forwarded.on("error", () => outgoing.destroy())
          forwarded.on("response", (answer) => {
            outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
            answer.pipe(outgoing)
          })
          incoming.pipe(forwarded)
        })
        server.on("connect", ({ headers, url = "" }, client, head) => {
          seen.push({ asked: `CONNECT ${url}`, headers })
          client.on("error", () => client.destroy())
          if (refuses !== undefined) return void client.end(`HTTP/1.1 ${refuses} Refused\r\ncontent-length: 0\r\n\r\n`)
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
          resume(Effect.succeed({ port, seen, server }))
        })
      }
    ),
    ({ server }) =>
      Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
  )
