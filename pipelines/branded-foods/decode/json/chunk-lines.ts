/**
 * Reads the lines of a chunk as the cutter wrote them, `{"line":123,…}` with a line feed each: in sequence, or by
 * position. A chunk has hundreds of megabytes and a line at most 16, so only one line at a time is in memory.
 */
import { createReadStream, createWriteStream } from "node:fs"
import type { FileHandle } from "node:fs/promises"
import { pipeline } from "node:stream/promises"
import { pieceBytes } from "../../../run/files/chunk-size.ts"
import { type FoodReject, payloadBytes, shortenPayload } from "./food-list.ts"

const lineFeed = 0x0a

/** A range of bytes in a file; `to` is exclusive. In a chunk, a range consists of whole lines. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The lines, without their line feeds. */
export async function* readLines(file: string): AsyncGenerator<Buffer, void, undefined> {
  let started: Array<Buffer> = []
  for await (const data of createReadStream(file, { highWaterMark: pieceBytes })) {
    const piece: Buffer = data
    let from = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, from)) {
      const rest = piece.subarray(from, end)
      yield started.length === 0 ? rest : Buffer.concat([...started, rest])
      started = []
      from = end + 1
    }
    if (from < piece.length) started.push(piece.subarray(from))
  }
  if (started.length > 0) yield Buffer.concat(started)
}

/** The reject of a line: the line number that the cutter added, and the original record. */
export const makeReject = (bytes: Buffer, reason: string): FoodReject => {
  const rest = bytes.indexOf(",")
  const line = Number.parseInt(bytes.toString("latin1", '{"line":'.length, 24), 10)
  const start = bytes.subarray(rest + 1, rest + 1 + payloadBytes)
  return { line, reason, payload: shortenPayload(Buffer.concat([Buffer.from("{"), start])) }
}

/** The beginning of a line, as much as `makeReject` needs. */
export const readBeginning = async (opened: FileHandle, { from, to }: Range) => {
  const length = Math.min(to - from, payloadBytes + 64)
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(length), 0, length, from)
  return buffer.subarray(0, bytesRead)
}

/** The position of the first or the last line feed in a range. */
const findLineFeed = async (opened: FileHandle, { from, to }: Range, which: "first" | "last") => {
  const buffer = Buffer.alloc(Math.min(pieceBytes, Math.max(to - from, 1)))
  let position: number | undefined
  for (let at = from; at < to; ) {
    const { bytesRead } = await opened.read(buffer, 0, Math.min(buffer.length, to - at), at)
    if (bytesRead === 0) break
    const index = buffer.subarray(0, bytesRead)[which === "first" ? "indexOf" : "lastIndexOf"](lineFeed)
    if (index !== -1) position = at + index
    if (index !== -1 && which === "first") break
    at += bytesRead
  }
  return position
}

/** Two ranges of whole lines, about equally long; undefined if the range is a single line. */
export const splitRange = async (opened: FileHandle, { from, to }: Range): Promise<[Range, Range] | undefined> => {
  const middle = from + Math.floor((to - from) / 2)
  const lineEnd =
    (await findLineFeed(opened, { from: middle, to: to - 1 }, "first")) ??
    (await findLineFeed(opened, { from, to: Math.min(middle, to - 1) }, "last"))
  if (lineEnd === undefined) return undefined
  return [
    { from, to: lineEnd + 1 },
    { from: lineEnd + 1, to }
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
