/** A proxy that keeps a live run waiting, for tests that stop it. */
import { once } from "node:events"
import { createServer } from "node:net"

/**
 * Starts a proxy that never responds, and returns settings for a run to use it. A connected run then waits for its first
 * response: interrupted earlier, it would have no id yet, and later, it might have published.
 */
export const startSilentProxy = async () => {
  const proxy = createServer((socket) => socket.on("error", () => {}).resume()) // a run closes the connection when it ends
  await once(proxy.listen(0, "127.0.0.1"), "listening")
  const address = proxy.address()
  const port = typeof address === "object" ? address?.port : undefined
  return {
    settings: { LARDER_SOURCES: "live", HTTPS_PROXY: `http://127.0.0.1:${port}` },
    connected: once(proxy, "connection").then(() => proxy.close())
  }
}
