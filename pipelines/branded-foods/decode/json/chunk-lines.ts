/**
 * Reads the lines of a chunk as the cutter wrote them, `{"line":123,…}` with a line feed each: in sequence, or by their
 * position in the file. A chunk has hundreds of megabytes and a line at most 16, so no more than one line is kept in
 * memory.
 */
import { createReadStream, createWriteStream } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { pieceBytes } from "../../../run/files/chunk-size.ts"
import { type FoodReject, payloadBytes, payloadOf } from "./food-list.ts"

const lineFeed = 0x0a

/** A range of bytes in a file; `to` is exclusive. In a chunk, a range consists of whole lines. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The lines, without their line feeds. */
export async function* linesOf(file: string): AsyncGenerator<Buffer, void, undefined> {
  let begun: Array<Buffer> = []
  for await (const read of createReadStream(file, { highWaterMark: pieceBytes })) {
    const piece: Buffer = read
    let from = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, from)) {
      const rest = piece.subarray(from, end)
      yield begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      begun = []
      from = end + 1
    }
    if (from < piece.length) begun.push(piece.subarray(from))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

/** Makes a reject of a line that is not a food: the line number that the cutter added, and the original record. */
export const rejectOf = (bytes: Buffer, reason: string): FoodReject => {
  const rest = bytes.indexOf(",")
  const line = Number.parseInt(bytes.toString("latin1", '{"line":'.length, 24), 10)
  const start = bytes.subarray(rest + 1, rest + 1 + payloadBytes)
  return { line, reason, payload: payloadOf(Buffer.concat([Buffer.from("{"), start])) }
}

/** The beginning of a line, as much as `rejectOf` needs. */
export const beginningOf = async (opened: FileHandle, { from, to }: Range) => {
  const length = Math.min(to - from, payloadBytes + 64)
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(length), 0, length, from)
  return buffer.subarray(0, bytesRead)
}

/** The position of the first or the last line feed in a range. */
const lineFeedIn = async (opened: FileHandle, { from, to }: Range, which: "first" | "last") => {
  const buffer = Buffer.alloc(Math.min(pieceBytes, Math.max(to - from, 1)))
  let last: number | undefined
  for (let at = from; at < to; ) {
    const { bytesRead } = await opened.read(buffer, 0, Math.min(buffer.length, to - at), at)
    if (bytesRead === 0) break
    const piece = buffer.subarray(0, bytesRead)
    const found = which === "first" ? piece.indexOf(lineFeed) : piece.lastIndexOf(lineFeed)
    if (found !== -1) last = at + found
    if (found !== -1 && which === "first") break
    at += bytesRead
  }
  return last
}

/** Two ranges of whole lines, about equally long; undefined if the range is a single line. */
export const halves = async (opened: FileHandle, { from, to }: Range): Promise<[Range, Range] | undefined> => {
  const middle = from + Math.floor((to - from) / 2)
  const found =
    (await lineFeedIn(opened, { from: middle, to: to - 1 }, "first")) ??
    (await lineFeedIn(opened, { from, to: Math.min(middle, to - 1) }, "last"))
  if (found === undefined) return undefined
  return [
    { from, to: found + 1 },
    { from: found + 1, to }
  ]
}

/** Copies ranges of a file into a new one. */
export const copyRanges = async (file: string, ranges: ReadonlyArray<Range>, target: string) => {
  await pipeline(async function* () {
    for (const { from, to } of ranges) {
      if (from < to) yield* createReadStream(file, { start: from, end: to - 1, highWaterMark: pieceBytes })
    }
  }, createWriteStream(target))
}
