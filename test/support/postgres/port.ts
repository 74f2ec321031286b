/** A port of 127.0.0.1 for a server that is restarted on the same port. */
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/**
 * Below the ports that systems use for outgoing connections (from 32,768 on): otherwise a client that reconnects to a killed
 * server could get the server's own port, and block it.
 */
export const freePort = async (): Promise<number> => {
  const port = randomInt(20_000, 32_000)
  return (await isFree(port)) ? port : freePort()
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })
