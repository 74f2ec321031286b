import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { expect, it, vi } from "vitest"
import { trackConnections } from "./connections.ts"

it("lets the client of a refused request finish sending, and closes the connection two seconds later", async () => {
  const server = createServer()
  const connections = trackConnections(server)
  const accepted = Promise.withResolvers<Socket>()
  server.on("connection", accepted.resolve)
  let refusals = 0
  const refusal = () => {
    refusals++
    return "no"
  }
  server.on("clientError", (_error, socket) => connections.refuseInput(socket, refusal))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const client = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", allowHalfOpen: true })
  const socket = await accepted.promise
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    client.resume().write("what is this\r\n\r\n")
    await once(client, "end")
    client.write("and more")
    await once(server, "clientError")
    vi.advanceTimersByTime(1_999)
    expect([refusals, socket.destroyed]).toEqual([1, false])
    vi.advanceTimersByTime(1)
    expect(socket.destroyed).toBe(true)
  } finally {
    vi.useRealTimers()
    client.destroy()
    server.close()
  }
})
