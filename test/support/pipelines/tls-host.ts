/** A real HTTPS server on this machine, with a given certificate. */
import type { createServer, RequestListener } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { Effect } from "effect"

interface CertificateWithKey {
  readonly cert: string
  readonly key: string
}

/** Makes this process trust the authority until the scope closes, as NODE_EXTRA_CA_CERTS does. */
export const trustAuthority = ({ cert }: { readonly cert: string }) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )

export const startTls = (
  { cert, key }: CertificateWithKey,
  respond: RequestListener = (_, response) => response.end("{}")
) =>
  Effect.acquireRelease(
    Effect.callback<{ port: number; server: ReturnType<typeof createServer> }>((resume) => {
      const server = createTlsServer({ cert, key }, respond)
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
