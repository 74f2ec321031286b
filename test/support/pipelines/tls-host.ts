/** A real HTTPS server on this machine, with the certificate that a test wants. */
import type { createServer, RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

interface WithKey {
  readonly cert: string
  readonly key: string
}

export const startTls = ({ cert, key }: WithKey, answer: RequestListener = (_, response) => response.end("{}")) =>
  Effect.acquireRelease(
    Effect.callback<{ port: number; server: ReturnType<typeof createServer> }>((resume) => {
      const server = createTlsServer({ cert, key }, answer)
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo // a server that listens on a port has one
        resume(Effect.succeed({ port, server }))
      })
    }),
    ({ server }) =>
      Effect.callback<void>((done) => {
        server.close(() => done(Effect.void))
        server.closeAllConnections()
      })
  )
