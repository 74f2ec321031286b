/**
 * Slow and stalled readers. A connection with waiting bytes is reset, with or without a key, when it reads nothing in
 * 30 seconds or less than 16 KiB in 60. While too many connections wait, the slowest are reset. A call without waiting
 * bytes is never reset.
 */
import type { Socket } from "node:net"
import { readUnacknowledged } from "./unacknowledged.ts"

const windowMs = 30_000
const leastBytes = 16 * 1024 // the measurement is about as coarse: a reader that took some bytes gets a second window
/** A shorter observation says nothing about a reader's speed. */
const minObservationMs = 1_000

interface Mark {
  readonly at: number
  readonly taken: number
}

interface Reader {
  /** When bytes started to wait. */
  readonly first: Mark
  /** Start of the current window of 30 seconds. */
  window: Mark
  newest: Mark
}

/** In bytes per millisecond. */
const speedOf = ({ first, newest }: Reader) => (newest.taken - first.taken) / (newest.at - first.at)

interface Watch {
  readonly sockets: () => Iterable<Socket>
  /** Whether unread answers have reached their memory limit. */
  readonly isFull: () => boolean
  readonly now: () => number
  /** Connections with waiting bytes. Each holds at most one chunk of 16 KiB outside of its account's quota. */
  readonly maxWaiting?: number
}

export const makeReaders = ({ isFull, maxWaiting = 1_024, now, sockets }: Watch) => {
  const readers = new Map<Socket, Reader>()

  const cutOff = (socket: Socket) => {
    readers.delete(socket)
    socket.resetAndDestroy() // an ordinary close would leave its bytes in the operating system
  }

  /**
   * Resets the slowest readers above `maxWaiting`. While memory is full: all stalled readers, or the slowest one if
   * none is stalled. Their memory is free a moment later.
   */
  const cutSlowest = () => {
    const bySpeed = [...readers]
      .filter(([, { first, newest }]) => newest.at - first.at >= minObservationMs)
      .sort(([, one], [, other]) => speedOf(one) - speedOf(other))
    const stopped = bySpeed.filter(([, reader]) => speedOf(reader) < leastBytes / windowMs).length
    const excess = Math.max(readers.size - maxWaiting, isFull() ? Math.max(stopped, 1) : 0)
    for (const [socket] of bySpeed.slice(0, excess)) cutOff(socket)
  }

  const measure = (socket: Socket, newest: Mark) => {
    const reader = readers.get(socket)
    if (reader === undefined) {
      readers.set(socket, { first: newest, window: newest, newest })
      return
    }
    reader.newest = newest
    const span = newest.at - reader.window.at
    const taken = newest.taken - reader.window.taken
    if (span < windowMs) return
    if (taken >= leastBytes) reader.window = newest
    else if (taken <= 0 || span >= 2 * windowMs) cutOff(socket)
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
        measure(socket, { at, taken: socket.bytesWritten - socket.writableLength - unacknowledged(socket) })
      cutSlowest()
    }
  }
}
