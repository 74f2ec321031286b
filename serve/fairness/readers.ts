/**
 * Readers that stop reading. A connection that takes less than 16 kB in 30 seconds while bytes wait for it is cut off, with
 * a key or without one; so are the slowest of all, where more wait than may. A call that is still being answered has nothing
 * waiting, and is never cut off.
 */
import type { Socket } from "node:net"
import { readUnacknowledged } from "./unacknowledged.ts"

const windowMs = 30_000
const leastBytes = 16 * 1024 // what was taken is known to about as much, so who took something has a second window
/** Before it can be told how fast somebody reads. */
const youngMs = 1_000

interface Mark {
  readonly at: number
  readonly taken: number
}

interface Reader {
  /** Since when bytes wait. */
  readonly first: Mark
  /** Where the last 30 seconds began. */
  window: Mark
  newest: Mark
}

/** Bytes a millisecond. */
const speedOf = ({ first, newest }: Reader) => (newest.taken - first.taken) / (newest.at - first.at)

interface Watch {
  readonly sockets: () => Iterable<Socket>
  /** Whether unread answers hold as much memory as they may. */
  readonly isFull: () => boolean
  readonly now: () => number
  /** Each has a chunk of 16 KiB at most waiting for it, beside what its account holds. */
  readonly mostWaiting?: number
}

export const makeReaders = ({ isFull, mostWaiting = 1_024, now, sockets }: Watch) => {
  const readers = new Map<Socket, Reader>()

  const cutOff = (socket: Socket) => {
    readers.delete(socket)
    socket.resetAndDestroy() // closed in the usual way, its bytes would go on waiting in the operating system
  }

  /** While the memory is full, those who have stopped go, or else the slowest; theirs is free a moment later. */
  const cutSlowest = () => {
    const bySpeed = [...readers]
      .filter(([, { first, newest }]) => newest.at - first.at >= youngMs)
      .sort(([, one], [, other]) => speedOf(one) - speedOf(other))
    const stopped = bySpeed.filter(([, reader]) => speedOf(reader) < leastBytes / windowMs).length
    const excess = Math.max(readers.size - mostWaiting, isFull() ? Math.max(stopped, 1) : 0)
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
    /** Looks at everybody once; to be called every few seconds. */
    look: async (): Promise<void> => {
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
