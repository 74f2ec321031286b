/** A port of 127.0.0.1 for a server that has to come back on it. */
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

/**
 * Below the ports that systems hand out for outgoing connections (from 32,768 on): a client that reconnects to a killed
 * server could otherwise be given the server's own port, and keep the server from it.
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
