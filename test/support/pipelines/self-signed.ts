/** An HTTPS server whose certificate no authority has signed: who connects to it without being told to trust it, refuses. */
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** Made for this file, of 127.0.0.1, until 2126. It protects nothing. */
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA7pO9pDe4W350w6o
dE1VVCynBu0ag2rrODOUWg7SrVyhRANCAAQh7tDI/b5rQpW1/EX/oROz6S1nyO92
6CXsWW8Tb25GmHjtS9wnsAFGAyIwCp4ygMwK7RXJ/nI7nKBJqAQkUhAX
-----END PRIVATE KEY-----`
const cert = `-----BEGIN CERTIFICATE-----
MIIBkDCCATagAwIBAgIUIf8Mbq9XAL1Q6HEfdgxQxN1PZMowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyNDA0MDMyNloYDzIxMjYxMDMx
MDQwMzI2WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQh7tDI/b5rQpW1/EX/oROz6S1nyO926CXsWW8Tb25GmHjtS9wnsAFG
AyIwCp4ygMwK7RXJ/nI7nKBJqAQkUhAXo2QwYjAdBgNVHQ4EFgQUedRqcBN+tcGC
gd+J1z1oheyqC4UwHwYDVR0jBBgwFoAUedRqcBN+tcGCgd+J1z1oheyqC4UwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0gAMEUC
IHBfM2u3i/LEfkyVRfO6e63k18hcDKhHsmhVbfbXGVqzAiEA+fdrWQTwwUt0Royh
8gwmh+wTLjmGAWbIudqFSTqubHs=
-----END CERTIFICATE-----`

/** Its address. */
export const startSelfSigned = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly close: () => void }>((resume) => {
    const server = createServer({ key, cert }, (_request, response) => response.end("{}"))
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo // a server that listens on a port has one
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ url: `https://127.0.0.1:${port}`, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)
