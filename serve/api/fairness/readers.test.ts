import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { makeReaders } from "./readers.ts"
import { readUnacknowledged } from "./unacknowledged.ts"

const piece = Buffer.alloc(128 * 1024)

/** Waits until the buffers of the operating system on both sides are full, for a caller that does not read. */
const untilFull = async (socket: Socket) => {
  let taken = -1
  let same = 0
  await vi.waitFor(
    async () => {
      const now = socket.bytesWritten - (await readUnacknowledged())(socket)
      same = now === taken && socket.writableLength > 0 ? same + 1 : 0
      taken = now
      expect(same).toBeGreaterThan(2)
    },
    { interval: 30, timeout: 60_000 }
  )
}

/** A server that writes to each caller while the caller reads. Tests set its clock. */
const open = async (more: { readonly isFull?: () => boolean; readonly maxWaiting?: number } = {}) => {
  const sockets = new Set<Socket>()
  let now = 0
  const readers = makeReaders({ sockets: () => sockets, now: () => now, isFull: () => false, ...more })
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
    caller: async (): Promise<Socket> => {
      const client = connect(port, "127.0.0.1").on("error", () => {})
      clients.push(client)
      client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
      const [, response] = (await once(server, "request")) as [unknown, ServerResponse]
      const socket = response.socket as Socket
      await untilFull(socket)
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

let opened: Awaited<ReturnType<typeof open>>
afterEach(() => opened.close())

/** Reads at least this many bytes. */
const take = async (client: Socket | undefined, bytes: number) => {
  for (let taken = 0; taken < bytes; ) {
    const piece: Buffer | null = client?.read() ?? null
    if (piece === null && client !== undefined) await once(client, "readable")
    else taken += piece?.length ?? 0
  }
}

describe("a connection for which bytes wait", () => {
  beforeEach(async () => {
    opened = await open()
  })

  it("is cut off after 30 seconds in which it took nothing, and not before", async () => {
    const { caller, checkAt } = opened
    const socket = await caller()
    await checkAt(0)
    await checkAt(29.9)
    expect(socket.destroyed).toBe(false)
    await checkAt(30)
    expect(socket.destroyed).toBe(true)
  })

  it("stays while it takes 16 kB in each 30 seconds, though the operating system holds megabytes for it", async () => {
    const { caller, clients, checkAt } = opened
    const socket = await caller()
    await checkAt(0)
    const waiting = socket.writableLength
    await take(clients[0], 300_000)
    await checkAt(30)
    expect(socket.destroyed).toBe(false)
    expect(socket.writableLength).toBe(waiting) // the process sent nothing meanwhile
    await checkAt(60)
    expect(socket.destroyed).toBe(true)
  })
})

it("cuts off the slowest reader first while unread answers fill the memory, one at each look", async () => {
  let full = true
  opened = await open({ isFull: () => full })
  const { caller, clients, checkAt } = opened
  const stopped = await caller()
  const slow = await caller()
  await checkAt(0)
  await take(clients[1], 300_000)
  await checkAt(0.5)
  expect([stopped.destroyed, slow.destroyed]).toEqual([false, false]) // observed too briefly
  await checkAt(2)
  expect([stopped.destroyed, slow.destroyed]).toEqual([true, false])
  full = false
  await checkAt(4)
  expect(slow.destroyed).toBe(false)
})

it("lets no more connections wait than it may, and cuts off the slowest", async () => {
  opened = await open({ maxWaiting: 2 })
  const { caller, clients, checkAt } = opened
  const sockets = [await caller(), await caller(), await caller()]
  await checkAt(0)
  await take(clients[0], 300_000)
  await take(clients[2], 300_000)
  await checkAt(2)
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false])
})
