/** Writes many small pieces to a file in few large ones. */
import type { FileHandle } from "node:fs/promises"
import { writeAll } from "../../run/files/write-all.ts"

const bufferedBytes = 4 << 20

export const makeBufferedWriter = (file: FileHandle) => {
  let pieces: Array<Buffer> = []
  let bytes = 0
  const flush = async () => {
    const all = Buffer.concat(pieces)
    pieces = []
    bytes = 0
    await writeAll(file, all)
  }
  return {
    /** Copies the piece. */
    write: async (piece: Buffer) => {
      pieces.push(Buffer.from(piece))
      bytes += piece.length
      if (bytes > bufferedBytes) await flush()
    },
    /** Must be called after the last piece. */
    flush
  }
}
export type BufferedWriter = ReturnType<typeof makeBufferedWriter>
