/**
 * Resets connections that read nothing in 30 s or less than 16 KiB in 60 s. While too many connections have unread bytes,
 * or memory is full, also resets the slowest ones.
 */
import type { Socket } from "node:net"
import { readUnacknowledged } from "./unacknowledged.ts"

const windowMs = 30_000
const minBytes = 16 * 1024 // the measurement is about this coarse, so a reader that read anything gets a second window
/** Over a shorter time, a reader's speed cannot be measured. */
const minObservationMs = 1_000

interface Mark {
  readonly at: number
  readonly bytesRead: number
}

interface Reader {
  readonly first: Mark
  window: Mark
  newest: Mark
}

const computeSpeed = ({ first, newest }: Reader) => (newest.bytesRead - first.bytesRead) / (newest.at - first.at)

interface ReaderOptions {
  readonly sockets: () => Iterable<Socket>
  /** Whether unread responses have reached their memory limit. */
  readonly isFull: () => boolean
  readonly now: () => number
  /** Limit of connections with unread bytes. Each has at most one chunk of 16 KiB outside of its account's quota. */
  readonly maxWaiting?: number
}

export const makeReaders = ({ isFull, maxWaiting = 1_024, now, sockets }: ReaderOptions) => {
  const readers = new Map<Socket, Reader>()

  const reset = (socket: Socket) => {
    readers.delete(socket)
    socket.resetAndDestroy() // an ordinary close would keep its bytes in the operating system
  }

  /** Resets readers above `maxWaiting`, slowest first. While memory is full: all stalled readers, at least one. */
  const resetSlowest = () => {
    const bySpeed = [...readers]
      .filter(([, { first, newest }]) => newest.at - first.at >= minObservationMs)
      .sort(([, a], [, b]) => computeSpeed(a) - computeSpeed(b))
    const stalledCount = bySpeed.filter(([, reader]) => computeSpeed(reader) < minBytes / windowMs).length
    const excess = Math.max(readers.size - maxWaiting, isFull() ? Math.max(stalledCount, 1) : 0)
    for (const [socket] of bySpeed.slice(0, excess)) reset(socket)
  }

  const measure = (socket: Socket, newest: Mark) => {
    const reader = readers.get(socket)
    if (reader === undefined) {
      readers.set(socket, { first: newest, window: newest, newest })
      return
    }
    reader.newest = newest
    const span = newest.at - reader.window.at
    const bytesRead = newest.bytesRead - reader.window.bytesRead
    if (span < windowMs) return
    if (bytesRead >= minBytes) reader.window = newest
    else if (bytesRead <= 0 || span >= 2 * windowMs) reset(socket)
  }

  return {
    /** Measures every connection once. Called every few seconds. */
    check: async (): Promise<void> => {
      const at = now()
      const waiting = new Set([...sockets()].filter(({ writableLength }) => writableLength > 0))
      for (const socket of readers.keys()) if (!waiting.has(socket)) readers.delete(socket)
      if (waiting.size === 0) return
      const unacknowledged = await readUnacknowledged()
      for (const socket of waiting)
        measure(socket, { at, bytesRead: socket.bytesWritten - socket.writableLength - unacknowledged(socket) })
      resetSlowest()
    }
  }
}
