/** The output of the splitter: lines `{"line":123,…}` in one reused buffer, and the rejected records. */
import { type FoodReject, shortenPayload } from "./food-list.ts"

const lineFeed = 0x0a
const closeBrace = 0x7d

export const isLineSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09

export const makeSplitLines = () => {
  let out = Buffer.allocUnsafe(8 << 20)
  let length = 0
  let records = 0
  const rejects: Array<FoodReject> = []

  const reserve = (bytes: number) => {
    if (length + bytes <= out.length) return
    const larger = Buffer.allocUnsafe(Math.max(out.length * 2, length + bytes))
    out.copy(larger, 0, 0, length)
    out = larger
  }

  return {
    /** Writes the record that is at this line of the release, from its brace to its brace. */
    write(line: number, bytes: Buffer, from: number, to: number) {
      let first = from + 1
      while (isLineSpace(bytes[first])) first += 1
      reserve(to - first + 32)
      length += out.write(`{"line":${line}`, length, "latin1")
      if (bytes[first] !== closeBrace) length += out.write(",", length, "latin1")
      length += bytes.copy(out, length, first, to)
      out[length++] = lineFeed
      records += 1
    },
    reject(line: number, reason: string, bytes: Buffer) {
      rejects.push({ line, reason, payload: shortenPayload(bytes) })
    },
    lineBytes: () => length,
    /** They are valid until `removeLines`. */
    lines: () => out.subarray(0, length),
    removeLines() {
      length = 0
    },
    recordCount: () => records,
    rejectCount: () => rejects.length,
    takeRejects: () => rejects.splice(0)
  }
}
