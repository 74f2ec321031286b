/** The lines that the cutter makes: `{"line":123,…}`, one buffer that is filled and taken, and the records that are none. */
import { type FoodReject, payloadBytes, payloadOf } from "./food-list.ts"

const lineFeed = 0x0a
const comma = 0x2c
const close = 0x7d

export const isBlank = (byte: number | undefined) => byte === 0x20 || byte === 0x0d || byte === 0x09

export type CutLines = ReturnType<typeof makeCutLines>

export const makeCutLines = () => {
  let out = Buffer.allocUnsafe(8 << 20)
  let length = 0
  /** So far the lines are whole; after it perhaps the beginning of one. */
  let whole = 0
  let records = 0
  let rejects: Array<FoodReject> = []

  const room = (bytes: number) => {
    if (length + bytes <= out.length) return
    const larger = Buffer.allocUnsafe(Math.max(out.length * 2, length + bytes))
    out.copy(larger, 0, 0, length)
    out = larger
  }

  return {
    /** A record begins at this line of the release. Its opening brace is part of what is written here. */
    begin(line: number) {
      room(32)
      length += out.write(`{"line":${line},`, length, "latin1")
    },
    append(bytes: Buffer, from: number, to: number) {
      room(to - from)
      length += bytes.copy(out, length, from, to)
    },
    finish() {
      let last = length - 2 // before the closing brace
      while (isBlank(out[last])) last -= 1
      if (out[last] === comma && out.indexOf(comma, whole) === last) {
        out[last] = close // of an empty record: `{"line":5,}` is no JSON
        length = last + 1
      }
      room(1)
      out[length++] = lineFeed
      whole = length
      records += 1
    },
    /** The record that was begun is none. */
    abandon(line: number, reason: string) {
      const from = out.indexOf(comma, whole) + 1
      const start = out.subarray(from, Math.min(length, from + payloadBytes))
      this.reject(line, reason, Buffer.concat([Buffer.from("{"), start]))
      length = whole
    },
    reject(line: number, reason: string, bytes: Buffer) {
      rejects.push({ line, reason, payload: payloadOf(bytes) })
    },
    /** Bytes of whole lines that wait to be taken. */
    waiting: () => whole,
    /** They are good until `taken`, which makes room. */
    lines: () => out.subarray(0, whole),
    taken() {
      out.copyWithin(0, whole, length)
      length -= whole
      whole = 0
    },
    records: () => records,
    rejectsWaiting: () => rejects.length,
    takeRejects() {
      const taken = rejects
      rejects = []
      return taken
    }
  }
}
