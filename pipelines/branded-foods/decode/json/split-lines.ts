/** The output of the splitter: lines `{"line":123,…}` in one reused buffer, and the rejected records. */
import { type FoodReject, maxRejectBytes, shortenPayload } from "./food-list.ts"

const lineFeed = 0x0a
const comma = 0x2c
const close = 0x7d

export const isLineSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09

export type SplitLines = ReturnType<typeof makeSplitLines>

export const makeSplitLines = () => {
  let out = Buffer.allocUnsafe(8 << 20)
  let length = 0
  /** The end of the complete lines. The beginning of another line may follow. */
  let complete = 0
  let records = 0
  const rejects: Array<FoodReject> = []

  const reserve = (bytes: number) => {
    if (length + bytes <= out.length) return
    const larger = Buffer.allocUnsafe(Math.max(out.length * 2, length + bytes))
    out.copy(larger, 0, 0, length)
    out = larger
  }

  return {
    /** Begins the record at this line of the release. */
    begin(line: number) {
      reserve(32)
      length += out.write(`{"line":${line},`, length, "latin1")
    },
    append(bytes: Buffer, from: number, to: number) {
      reserve(to - from)
      length += bytes.copy(out, length, from, to)
    },
    finish() {
      let last = length - 2 // before the closing brace
      while (isLineSpace(out[last])) last -= 1
      if (out[last] === comma && out.indexOf(comma, complete) === last) {
        out[last] = close // of an empty record: `{"line":5,}` is not JSON
        length = last + 1
      }
      reserve(1)
      out[length++] = lineFeed
      complete = length
      records += 1
    },
    abandon(line: number, reason: string) {
      const from = out.indexOf(comma, complete) + 1
      const start = out.subarray(from, Math.min(length, from + maxRejectBytes))
      this.reject(line, reason, Buffer.concat([Buffer.from("{"), start]))
      length = complete
    },
    reject(line: number, reason: string, bytes: Buffer) {
      rejects.push({ line, reason, payload: shortenPayload(bytes) })
    },
    lineBytes: () => complete,
    /** The complete lines. They are valid until `removeLines`. */
    lines: () => out.subarray(0, complete),
    removeLines() {
      out.copyWithin(0, complete, length)
      length -= complete
      complete = 0
    },
    recordCount: () => records,
    rejectCount: () => rejects.length,
    takeRejects: () => rejects.splice(0)
  }
}
