import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { makeReaders } from "./readers.ts"
import { readUnacknowledged } from "./unacknowledged.ts"

const piece = Buffer.alloc(128 * 1024)

/** Waits until the buffers of the operating system on both sides are full, for a caller that does not read. */
const waitUntilFull = async (socket: Socket) => {
  let bytesRead = -1
  let unchangedCount = 0
  await vi.waitFor(
    async () => {
      const now = socket.bytesWritten - (await readUnacknowledged())(socket)
      unchangedCount = now === bytesRead && socket.writableLength > 0 ? unchangedCount + 1 : 0
      bytesRead = now
      expect(unchangedCount).toBeGreaterThan(2)
    },
    { interval: 30, timeout: 60_000 }
  )
}

/** A server that writes to each caller as fast as the caller reads. Tests set its clock. */
const startServer = async (options: { readonly isFull?: () => boolean; readonly maxWaiting?: number } = {}) => {
  const sockets = new Set<Socket>()
  let now = 0
  const readers = makeReaders({ sockets: () => sockets, now: () => now, isFull: () => false, ...options })
  const server = createServer((request, response) => {
    sockets.add(request.socket)
    const write = () => {
      while (response.write(piece));
      response.once("drain", write)
    }
    write()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const clients: Array<Socket> = []
  return {
    /** Connects a caller that does not read by itself; returns the server's socket. */
    connectCaller: async (): Promise<Socket> => {
      const client = connect(port, "127.0.0.1").on("error", () => {})
      clients.push(client)
      client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
      const [, response] = (await once(server, "request")) as [unknown, ServerResponse]
      const socket = response.socket as Socket
      await waitUntilFull(socket)
      return socket
    },
    clients,
    checkAt: (seconds: number) => {
      now = seconds * 1_000
      return readers.check()
    },
    close: () => {
      for (const client of clients) client.destroy()
      server.closeAllConnections()
      server.close()
    }
  }
}

let opened: Awaited<ReturnType<typeof startServer>>
afterEach(() => opened.close())

/** Reads at least this many bytes. */
const readBytes = async (client: Socket | undefined, bytes: number) => {
  for (let count = 0; count < bytes; ) {
    const piece: Buffer | null = client?.read() ?? null
    if (piece === null && client !== undefined) await once(client, "readable")
    else count += piece?.length ?? 0
  }
}

describe("a connection with unread bytes", () => {
  beforeEach(async () => {
    opened = await startServer()
  })

  it("is reset after 30 seconds without reading, and not before", async () => {
    const { checkAt, connectCaller } = opened
    const socket = await connectCaller()
    await checkAt(0)
    await checkAt(29.9)
    expect(socket.destroyed).toBe(false)
    await checkAt(30)
    expect(socket.destroyed).toBe(true)
  })

  it("stays open while its client reads 16 kB every 30 seconds, although the operating system buffers megabytes", async () => {
    const { checkAt, clients, connectCaller } = opened
    const socket = await connectCaller()
    await checkAt(0)
    const bufferedBytes = socket.writableLength
    await readBytes(clients[0], 300_000)
    await checkAt(30)
    expect(socket.destroyed).toBe(false)
    expect(socket.writableLength).toBe(bufferedBytes) // the process sent nothing in the meantime
    await checkAt(60)
    expect(socket.destroyed).toBe(true)
  })
})

it("resets the slowest reader first while memory is full, one per check", async () => {
  let full = true
  opened = await startServer({ isFull: () => full })
  const { checkAt, clients, connectCaller } = opened
  const stopped = await connectCaller()
  const slow = await connectCaller()
  await checkAt(0)
  await readBytes(clients[1], 300_000)
  await checkAt(0.5)
  expect([stopped.destroyed, slow.destroyed]).toEqual([false, false]) // observed too briefly
  await checkAt(2)
  expect([stopped.destroyed, slow.destroyed]).toEqual([true, false])
  full = false
  await checkAt(4)
  expect(slow.destroyed).toBe(false)
})

it("resets the slowest readers above the limit of waiting connections", async () => {
  opened = await startServer({ maxWaiting: 2 })
  const { checkAt, clients, connectCaller } = opened
  const sockets = [await connectCaller(), await connectCaller(), await connectCaller()]
  await checkAt(0)
  await readBytes(clients[0], 300_000)
  await readBytes(clients[2], 300_000)
  await checkAt(2)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false])
})
